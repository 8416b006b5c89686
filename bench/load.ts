import { connect, type Socket } from "node:net";

/**
 * A keep-alive client over plain sockets: it sends prepared bytes and counts answers by their Content-Length, so that it takes less of the
 * machine than the server that it measures. Fails on anything but a 201.
 */
export async function load(
  port: number,
  sockets: number,
  requests: readonly Buffer[],
): Promise<number> {
  const open = await Promise.all(Array.from({ length: sockets }, () => opened(port)));
  let next = 0;
  const began = performance.now();
  await Promise.all(open.map((socket) => exchange(socket, () => requests[next++])));
  const ms = performance.now() - began;
  for (const socket of open) socket.destroy();
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
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`,
  );
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

/** One request after the other on one socket, until there are no more. */
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
