import type { ServerResponse } from "node:http";
import type { ApiHandler, ApiRequest, ApiResponse } from "../../src/api/http.ts";

/** Never rejects: what fails half-way closes the socket, so that nobody takes half for the whole. */
export async function respond(
  api: ApiHandler,
  request: ApiRequest,
  response: ServerResponse,
): Promise<void> {
  try {
    await send(await api.handle(request), response);
  } catch {
    response.destroy();
  }
}

export async function send(
  { status, headers, body }: ApiResponse,
  response: ServerResponse,
): Promise<void> {
  if (body === null) {
    response.writeHead(status, headers).end();
  } else if (typeof body === "string" || body instanceof Uint8Array) {
    response.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
  } else {
    response.writeHead(status, headers).flushHeaders();
    await pour(body, response);
  }
}

async function pour(chunks: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const chunk of chunks) {
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    if (response.destroyed) done();
  });
}
