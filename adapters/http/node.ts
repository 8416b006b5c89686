import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mountable } from "../../src/api/index.ts";
import { checkMount, type MountOptions } from "./mount.ts";
import { NodeRequest } from "./node-request.ts";
import { respond } from "./node-response.ts";
import { originForm, stripBasePath } from "./paths.ts";

const unparsed = { body: undefined, rawBody: undefined };

/**
 * Returns a request listener for `http.createServer`. `engine` is an engine or a page, such as
 * `inboxHandler(engine)`. It handles every request: one outside `/v1`, or outside the page, gets a
 * 404 problem.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown
 */
export function nodeHandler(
  engine: Mountable,
  options: MountOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  checkMount("nodeHandler", engine, options);
  const strip = stripBasePath(options);
  const { basePath = "" } = options;
  return (message, response) => {
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
