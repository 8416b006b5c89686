import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Mountable } from "../../src/api/index.ts";
import { checkMount, type MountOptions } from "./mount.ts";
import { NodeRequest } from "./node-request.ts";
import { respond } from "./node-response.ts";
import { originForm, stripBasePath } from "./paths.ts";

const unparsed = { body: undefined, rawBody: undefined };

/**
 * Returns a request listener for `http.createServer` and `http2.createSecureServer`. `engine` is an
 * engine or a page, such as `inboxHandler(engine)`. It handles every request: one outside `/v1`, or
 * outside the page, gets a 404 problem.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown
 */
export function nodeHandler(
  engine: Mountable,
  options: MountOptions = {},
): (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void {
  checkMount("nodeHandler", engine, options);
  const strip = stripBasePath(options);
  const { basePath = "" } = options;
  return (anyMessage, anyResponse) => {
    // The compatibility API of `node:http2` has all that the handler uses, except where the handler
    // looks for the `stream` of a request or a response.
    const [message, response] = [anyMessage as IncomingMessage, anyResponse as ServerResponse];
    const url = originForm(message.url);
    const request = new NodeRequest(message, response, {
      url,
      target: strip(url) ?? "",
      parsed: unparsed,
      basePath,
      original: message,
    });
    void respond(engine.api, request, response);
  };
}
