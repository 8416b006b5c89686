/** A server in its own process, and requests over plain sockets. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { ServerCpu } from "./express-server.ts";

/** A server of `express-server.ts`. */
export interface ServerProcess {
  readonly port: number;
  readonly secret: string;
  /** Ten more API keys of the account. */
  readonly own: readonly string[];
  /** API keys of other accounts, ten of each. */
  readonly others: readonly string[];
  /** Runs `work`, and returns the CPU time of the server meanwhile. */
  cpuOf(work: () => Promise<unknown>, options?: { readonly profile: boolean }): Promise<ServerCpu>;
  stop(): Promise<void>;
}

export async function serve(file: string, streamAccounts = 0): Promise<ServerProcess> {
  const script = new URL("./express-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--expose-gc", script, file, String(streamAccounts)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const tell = async (message: object | "end"): Promise<unknown> => {
    const told = once(child, "message");
    child.send(message);
    return (await told)[0];
  };
  if (child.stdout === null) throw new Error("the server has no output");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const told = JSON.parse(line) as Pick<ServerProcess, "port" | "secret" | "own" | "others">;
  return {
    ...told,
    async cpuOf(work, { profile } = { profile: false }) {
      await tell({ begin: { profile } });
      await work();
      return (await tell("end")) as ServerCpu;
    },
    async stop() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}

/**
 * Sends prepared requests over plain sockets and returns the milliseconds that it took. It parses
 * as little of the answers as possible, so that the client needs less CPU than the server. Throws
 * on any answer but a 201.
 */
export async function load(
  port: number,
  connections: number,
  prepared: readonly Buffer[],
): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port)));
  let next = 0;
  const began = performance.now();
  await Promise.all(sockets.map((socket) => exchange(socket, () => prepared[next++])));
  const ms = performance.now() - began;
  for (const socket of sockets) socket.destroy();
  return ms;
}

export function postRequest(
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Buffer {
  const lines = Object.entries({
    Host: "localhost",
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  });
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n` +
      `${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}

export function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

/** Sends one request after another over a socket, until there are no more. */
function exchange(socket: Socket, next: () => Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const send = (): void => {
      const request = next();
      if (request === undefined) resolve();
      else socket.write(request);
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      received += chunk;
      const head = received.indexOf("\r\n\r\n");
      if (head === -1) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
      if (received.length < head + 4 + Number(length)) return;
      if (!received.startsWith("HTTP/1.1 201 ")) return reject(new Error(received));
      received = "";
      send();
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server closed the connection")));
    send();
  });
}
