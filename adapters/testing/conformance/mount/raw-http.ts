/** Raw bytes over a socket, so that requests may be malformed. */
import { connect, type Socket } from "node:net";

/** Where a server listens. A number is a port of 127.0.0.1. */
export type Address = number | { readonly host: string; readonly port: number };

export const connectTo = (at: Address): Socket =>
  connect({
    ...(typeof at === "number" ? { port: at, host: "127.0.0.1" } : at),
    allowHalfOpen: true,
  });

export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes the chunks. Resolves with all received bytes once either side closes. */
export function exchange(
  at: Address,
  chunks: readonly (string | Uint8Array)[],
  { leave = false } = {},
): Promise<Buffer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connectTo(at).once("connect", () => {
      for (const chunk of chunks) socket.write(chunk);
      if (leave) setImmediate(() => socket.destroy());
    });
    socket.on("data", (data: Buffer) => received.push(data));
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(Buffer.concat(received)));
  });
}

/** Parses the responses of a connection. */
export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const split = bytes.indexOf("\r\n\r\n", at);
    if (split === -1) break;
    const [line = "", ...fields] = bytes.subarray(at, split).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(":");
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const status = Number(line.split(" ")[1]);
    const start = split + 4;
    const isChunked = headers["transfer-encoding"] === "chunked";
    const length = Number(headers["content-length"] ?? 0);
    const { body, end } = isChunked
      ? chunkedBody(bytes, start)
      : { body: bytes.subarray(start, start + length), end: start + length };
    // The connection closed within the response.
    if (body === undefined) break;
    at = end;
    if (status >= 200) answers.push({ status, headers, body: body.toString() });
  }
  return answers;
}

/** Reads a chunked body. It is undefined if its end is missing. */
function chunkedBody(
  bytes: Buffer,
  start: number,
): { readonly body?: Buffer; readonly end: number } {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const endOfSize = bytes.indexOf("\r\n", at);
    if (endOfSize === -1) return { end: bytes.length };
    const size = Number.parseInt(bytes.subarray(at, endOfSize).toString(), 16);
    const data = endOfSize + 2;
    if (!(size > 0)) return { body: Buffer.concat(chunks), end: data + 2 };
    chunks.push(bytes.subarray(data, data + size));
    at = data + size + 2;
  }
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

/** The first line and the headers of a request, with the empty line after them. */
export function headOf({ method = "GET", path, headers = [] }: RawRequest): string {
  const lines = [["Host", "localhost"], ...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Sends one request on a new connection. */
export async function ask(at: Address, request: RawRequest): Promise<RawAnswer> {
  const { method = "GET", path, headers = [], body } = request;
  const isGiven = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name));
  const head = headOf({
    ...request,
    headers: [
      ["Connection", "close"],
      ...headers,
      ...(body === undefined || isGiven
        ? []
        : [["Content-Length", String(Buffer.byteLength(body))] as const]),
    ],
  });
  const bytes = await exchange(at, body === undefined ? [head] : [head, body]);
  const [answer] = parseAnswers(bytes);
  if (answer === undefined) {
    throw new Error(`no answer to ${method} ${path}: ${bytes.toString("latin1").slice(0, 200)}`);
  }
  return answer;
}
