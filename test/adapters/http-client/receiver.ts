import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export interface Receiver {
  readonly port: number;
  readonly connections: readonly Socket[];
  /** How many connections are open, including unfinished TLS handshakes. */
  open(): Promise<number>;
  /** Everything that was received, over all connections, as text. */
  heard(): string;
  /** How many requests arrived, complete or not. */
  requests(): number;
}

export interface Behavior {
  /** Called for each new connection. */
  readonly onConnect?: (socket: Socket) => void;
  /**
   * Called for each complete request, with its head and the body that its content-length announces.
   */
  readonly onRequest?: (socket: Socket, nth: number) => void;
}

/**
 * A receiver made of a plain socket, because an HTTP server could not misbehave like these. It
 * listens on its own port of 127.0.0.1.
 */
export async function receiver(behavior: Behavior, secure?: tls.TlsOptions): Promise<Receiver> {
  const connections: Socket[] = [];
  let heard = "";
  let requests = 0;
  const serve = (socket: Socket): void => {
    connections.push(socket);
    let text = "";
    // A connection that the client aborts is an error here.
    socket.on("error", () => {});
    behavior.onConnect?.(socket);
    if (behavior.onRequest === undefined) return;
    socket.on("data", (chunk: Buffer) => {
      heard += chunk.toString("latin1");
      text += chunk.toString("latin1");
      for (let rest = afterRequest(text); rest !== undefined; rest = afterRequest(text)) {
        text = rest;
        requests += 1;
        behavior.onRequest?.(socket, requests);
      }
    });
  };
  const server: Server =
    secure === undefined ? createServer(serve) : tls.createServer(secure, serve);
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = promisify(server.getConnections.bind(server));
  return { port, connections, open, heard: () => heard, requests: () => requests };
}

/** Returns what follows the first complete request, or undefined while it is incomplete. */
function afterRequest(text: string): string | undefined {
  const head = text.indexOf("\r\n\r\n");
  if (head === -1) return undefined;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? "0");
  const end = head + 4 + length;
  return text.length < end ? undefined : text.slice(end);
}

/** Writes as fast as the remote reads, until it closes the connection. */
export function flood(socket: Socket, piece: string): void {
  const chunk = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)), "latin1");
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

/** Writes a piece from time to time, until the remote closes the connection. */
export function drip(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 10);
  socket.on("close", () => clearInterval(timer));
}
