/** HTTP calls that fail when the other process dies. Nothing is retried here. */
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const agent = new Agent({ keepAlive: true });

/** Rejects when the connection breaks before the whole response has arrived. */
export function post(
  url: string,
  body: string,
  { headers, signal }: PostOptions = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const options = {
      method: "POST",
      agent,
      headers: {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    };
    const sent = request(url, options, (answer) => {
      text(answer).then(
        (read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

export async function listen(
  handler: (message: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer(handler);
  // Without this, the server would close an idle connection just as a client reuses it.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}` };
}

export interface Listening {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
}
