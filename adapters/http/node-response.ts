/** Writes the API handler's responses to those of `node:http` and `node:http2`. */
import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { ApiHandler, ApiRequest, ApiResponse } from "../../src/api/index.ts";
import { discardRest, isOver } from "./node-request.ts";
import { earlierResponsesSent, mustWait } from "./pipelining.ts";

/**
 * Handles a request when the responses before it on its connection are sent, and writes the
 * response. Never rejects: if the body fails, the response is broken off.
 */
export async function respond(
  api: ApiHandler,
  request: ApiRequest,
  response: ServerResponse,
): Promise<void> {
  try {
    if (mustWait(response) && !(await earlierResponsesSent(response))) return;
    await send(await api.handle(request), response);
  } catch {
    breakOff(response);
  }
}

/** `INTERNAL_ERROR` (RFC 9113, section 7). */
const internalError = 2;

/** Aborts a response, so that the client does not take the part that was sent for all of it. */
export function breakOff(response: ServerResponse | Http2ServerResponse): void {
  // Some clients take an HTTP/2 stream that is destroyed without an error for a complete response.
  if ("stream" in response) response.stream.close(internalError);
  else response.destroy();
}

/** Writes a response, and resolves when its last chunk is written. */
export async function send(
  { status, headers, body, cutOff }: ApiResponse,
  response: ServerResponse,
): Promise<void> {
  cutOff?.addEventListener("abort", () => breakOff(response), { once: true });
  if (body === null) {
    await end(response.writeHead(status, headers));
  } else if (typeof body === "string" || body instanceof Uint8Array) {
    const length = { "Content-Length": Buffer.byteLength(body) };
    const isHead = response.req.method === "HEAD";
    // Node leaves out the body too, but its option `rejectNonStandardBodyWrites` makes it an error.
    await end(response.writeHead(status, { ...headers, ...length }), isHead ? undefined : body);
  } else {
    response.writeHead(status, headers).flushHeaders();
    await writeChunks(body, response);
  }
}

/**
 * Ends a response. If the connection would close too early, the rest of the request is read first.
 * The client gets the response before that. `requestTimeout` of the server limits the wait.
 */
async function end(response: ServerResponse, body?: string | Uint8Array): Promise<void> {
  if (!closesTooEarly(response)) {
    response.end(body);
    return;
  }
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  await discardRest(response.req);
  response.end();
}

/**
 * Whether the end of a response closes the connection while the client still sends its request. The
 * client would then lose what it has not received of the response (RFC 9112, section 9.6). A stream
 * of HTTP/2 always ends with its response.
 */
export function closesTooEarly({ shouldKeepAlive, req }: ServerResponse): boolean {
  return !shouldKeepAlive && !req.complete;
}

async function writeChunks(chunks: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const chunk of chunks) {
    if (isOver(response)) return;
    if (!response.write(chunk)) await drain(response);
  }
  await end(response);
}

/** Resolves when the response can take more data, or is closed. */
function drain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    if (isOver(response)) done();
  });
}
