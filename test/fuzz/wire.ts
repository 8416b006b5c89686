/** Requests as bytes on a socket, and the responses to them. */
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Answer } from "./document.ts";

/** How a body is sent. */
export type Framing =
  | { readonly kind: "length" | "short" | "long" | "both" | "none" | "twice" }
  | { readonly kind: "chunked"; readonly sizes: readonly number[]; readonly extra: string };

export interface WireRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly framing: Framing;
}

/** Whether a server reads the request as it was meant. */
export const isExact = ({ framing, method, target, version, body }: WireRequest): boolean =>
  version === "HTTP/1.1" &&
  /^[A-Z]+$/.test(method) &&
  /^\/[!-~]*$/.test(target) &&
  (framing.kind === "length" ||
    (framing.kind === "none" && body.length === 0) ||
    (framing.kind === "chunked" && framing.extra === ""));

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

function chunked(body: Buffer, sizes: readonly number[], extra: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = Math.max(1, sizes[i % Math.max(1, sizes.length)] ?? body.length);
    const chunk = body.subarray(at, at + size);
    parts.push(latin1(`${chunk.length.toString(16)}${extra}\r\n`), chunk, latin1("\r\n"));
    at += size;
  }
  return Buffer.concat([...parts, latin1("0\r\n\r\n")]);
}

export function bytesOf({ method, target, version, headers, body, framing }: WireRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const length = (n: number): unknown => lines.push(`Content-Length: ${n}`);
  const { kind } = framing;
  if (kind === "length" || kind === "both" || kind === "twice") length(body.length);
  if (kind === "twice") length(body.length + 1);
  if (kind === "short") length(Math.max(0, body.length - 3));
  if (kind === "long") length(body.length + 10);
  if (kind === "chunked" || kind === "both") lines.push("Transfer-Encoding: chunked");
  const head = latin1(`${method} ${target} ${version}\r\n${lines.join("\r\n")}\r\n\r\n`);
  const rest = kind === "chunked" ? chunked(body, framing.sizes, framing.extra) : body;
  return Buffer.concat([head, rest]);
}

/** Only a server that hangs takes this long. */
const hangsMs = 30_000;

/** After how many rounds of the event loop a client leaves whose request is not complete. */
const patience = 30;

/**
 * Writes the bytes in the given pieces, and returns everything that came back until the server has
 * closed the connection. An event stream, which does not end, is left after its head. A client
 * whose last request is not complete leaves.
 */
export function send(
  port: number,
  bytes: Buffer,
  { cuts, isComplete }: { readonly cuts: readonly number[]; readonly isComplete: boolean },
): Promise<Buffer> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  const pieces = [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length));
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end after ${hangsMs} ms: ${String(Buffer.concat(received))}`));
    }, hangsMs);
    socket.setNoDelay(true);
    socket.on("data", (data: Buffer) => {
      received.push(data);
      if (data.includes("Content-Type: text/event-stream")) socket.destroy();
    });
    socket.on("end", () => socket.end());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(received));
    });
    socket.on("connect", () => {
      void (async () => {
        for (const piece of pieces) {
          if (socket.destroyed) return;
          socket.write(piece);
          await setImmediate();
        }
        if (isComplete) return;
        for (let i = 0; i < patience && !socket.destroyed; i++) await setImmediate();
        socket.end();
      })();
    });
  });
}

/**
 * Reads the responses to requests with these methods, in order. Interim ones are skipped. Node
 * breaks a connection off when it reads something that is not HTTP. `mayBreakOff` allows that the
 * last response is not complete then.
 */
export function answersIn(
  bytes: Buffer,
  methods: readonly string[],
  { mayBreakOff = false } = {},
): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length;) {
    const split = bytes.indexOf("\r\n\r\n", at);
    if (split === -1 && mayBreakOff) break;
    if (split === -1) throw new Error(`half a head: ${bytes.toString("latin1", at, at + 500)}`);
    const [first = "", ...fields] = bytes.toString("latin1", at, split).split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1];
    if (status === undefined) throw new Error(`no status line: ${first.slice(0, 200)}`);
    const headers: Record<string, string> = {};
    for (const field of fields) {
      const colon = field.indexOf(":");
      headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
    }
    at = split + 4;
    if (status.startsWith("1")) continue;
    const isHead = methods[answers.length] === "HEAD" || status === "204" || status === "304";
    const isStream = headers["content-type"] === "text/event-stream";
    const { body, end } = isHead || isStream ? { body: "", end: at } : readBody(bytes, at, headers);
    if (end > bytes.length && mayBreakOff) break;
    answers.push({ status: Number(status), headers, body });
    if (isStream && !isHead) break;
    at = end;
  }
  return answers;
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
): { readonly body: string; readonly end: number } {
  if (headers["transfer-encoding"] !== "chunked") {
    const end = start + Number(headers["content-length"] ?? 0);
    return { body: bytes.toString("utf8", start, end), end };
  }
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    at = line + 2;
    const end = line === -1 ? Infinity : at + 2;
    if (!(size > 0)) return { body: Buffer.concat(parts).toString(), end };
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}
