import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mountable } from "../../src/api/http.ts";
import { type MountOptions, below } from "./mount.ts";
import { NodeRequest } from "./node-request.ts";
import { respond } from "./node-response.ts";

const unparsed = { body: undefined, rawBody: undefined };

/** For `http.createServer`: answers every request, those outside `/v1` with the 404 problem. */
export function nodeHandler(
  engine: Mountable,
  options: MountOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const inside = below(options);
  return (message, response) => {
    const url = message.url ?? "/";
    const request = new NodeRequest(message, response, url, inside(url) ?? "", unparsed);
    void respond(engine.api, request, response);
  };
}
