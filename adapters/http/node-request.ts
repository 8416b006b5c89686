/** Requests of `node:http` and `node:http2` in the form that the API handler takes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ApiBody, ApiRequest } from "../../src/api/index.ts";
import {
  bodyEndedEarly,
  bodyTooLarge,
  ByteCollector,
  TidingsError,
} from "../../src/kernel/index.ts";
import { pathAndQuery } from "./paths.ts";

/** What an earlier body parser left on the framework's request. */
export interface ParserResult {
  readonly body: unknown;
  readonly rawBody: unknown;
  /** Why the parser refused the body, if it did. */
  readonly refusal?: TidingsError;
}

/** What the framework says about a request of `node:http`. */
interface FrameworkRequest {
  /** Path and query as the client sent them. */
  readonly url: string;
  /** Path and query below the mount point. */
  readonly target: string;
  readonly parsed: ParserResult;
  readonly basePath?: string | undefined;
  /** The request of the framework. */
  readonly original: unknown;
}

/** A request of `node:http`, or of the compatibility API of `node:http2`. */
export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly basePath: string | undefined;
  readonly headers: readonly string[];
  readonly original: unknown;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parsed: ParserResult;
  #disconnected: AbortController | undefined;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    { url, target, parsed, basePath, original }: FrameworkRequest,
  ) {
    this.method = message.method ?? "GET";
    this.url = url;
    [this.path, this.query] = pathAndQuery(target);
    this.basePath = basePath;
    this.headers = headersOf(message);
    this.original = original;
    this.#message = message;
    this.#response = response;
    this.#parsed = parsed;
  }

  get remoteAddress(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  get signal(): AbortSignal {
    if (this.#disconnected === undefined) {
      const disconnected = new AbortController();
      this.#disconnected = disconnected;
      if (isOver(this.#response)) disconnected.abort();
      else this.#response.once("close", () => disconnected.abort());
    }
    return this.#disconnected.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    if (!this.#message.readableDidRead && !this.#message.readableEnded) {
      yield* chunksOf(this.#message);
      return;
    }
    // Nothing is left to read, so no limit applies.
    const { bytes } = await this.body(0);
    if (bytes === undefined) throw bodyWasRead();
    yield bytes;
  }

  async body(limit: number): Promise<ApiBody> {
    // Some parsers set a body on requests that they skip. Only `readableDidRead` says whether the
    // bytes are gone.
    if (!this.#message.readableDidRead) {
      const bytes = readArrived(this.#message, limit) ?? (await readAll(this.#message, limit));
      if (isBrokenOff(this.#message)) throw bodyEndedEarly();
      return { kind: "bytes", bytes };
    }
    const bytes = bytesOf(this.#parsed.rawBody) ?? bytesOf(this.#parsed.body);
    if (this.#parsed.body !== undefined) return { kind: "parsed", value: this.#parsed.body, bytes };
    if (bytes !== undefined) return { kind: "bytes", bytes };
    if (this.#parsed.refusal !== undefined) throw this.#parsed.refusal;
    throw bodyWasRead();
  }
}

/**
 * Whether a response was sent, or its connection was closed. A response of `node:http2` has no
 * `destroyed`, but its stream has.
 */
export function isOver(response: ServerResponse | Http2ServerResponse): boolean {
  return "stream" in response ? response.stream.destroyed : response.destroyed;
}

/** Whether a client aborted a request of HTTP/2. Its body then ends as if it were complete. */
function isBrokenOff(message: IncomingMessage | Http2ServerRequest): boolean {
  return "stream" in message && message.aborted;
}

/**
 * Returns the headers in the form of HTTP/1.1. The authority of an HTTP/2 request becomes the
 * header `Host` (RFC 9113, section 8.3.1).
 */
function headersOf(message: IncomingMessage | Http2ServerRequest): readonly string[] {
  const { rawHeaders } = message;
  if (!("stream" in message)) return rawHeaders;
  const headers = ["Host", message.authority];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = rawHeaders.slice(i, i + 2);
    if (name !== "host" && !name.startsWith(":")) headers.push(name, value);
  }
  return headers;
}

const bodyWasRead = (): TidingsError =>
  new TidingsError(
    "invalid_option",
    "The request body was already read. Mount tidings before the middleware that reads it, or " +
      "keep the bytes as `rawBody`.",
  );

/**
 * Yields the body's chunks. When the consumer stops early, the rest is read and discarded: a client
 * that is still sending would not see a response that arrives before it finishes.
 */
async function* chunksOf(message: IncomingMessage): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      yield chunk as Uint8Array;
    }
    if (isBrokenOff(message)) throw bodyEndedEarly();
  } catch {
    throw bodyEndedEarly();
  } finally {
    await discardRest(message);
  }
}

/** Reads and discards the rest of a body. Resolves when it has ended or the connection is gone. */
export function discardRest(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (message.readableEnded || message.destroyed) resolve();
    else message.on("end", resolve).on("error", resolve).on("close", resolve).resume();
  });
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === "string") return Buffer.from(body);
  return body instanceof Uint8Array ? body : undefined;
}

const noBytes = new Uint8Array();

/**
 * Returns the body if all of it has arrived, as a small one usually has. To read it so is cheaper
 * than to wait for the events of a stream. Returns undefined if it must be read in another way.
 */
function readArrived(message: IncomingMessage, limit: number): Uint8Array | undefined {
  const { readableEnded, readableLength, destroyed, headers } = message;
  if (readableEnded) return noBytes;
  // Node accepts no other number of bytes than this header declares.
  const hasArrived = readableLength === Number(headers["content-length"]);
  if (!hasArrived || destroyed || readableLength > limit) return undefined;
  return (message.read() as Buffer | null) ?? noBytes;
}

/** Reads the body. Rejects with `body_too_large` above `limit` bytes. Node discards the rest. */
function readAll(message: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const collected = new ByteCollector();
    let size = 0;
    const settle = (act: () => void): void => {
      message.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) collected.add(chunk);
      else settle(() => reject(bodyTooLarge(limit)));
    };
    const onEnd = (): void => settle(() => resolve(collected.bytes));
    // The client disconnected, or the body did not match its headers.
    const onBreak = (): void => settle(() => reject(bodyEndedEarly()));
    message.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
    if (message.destroyed) onBreak();
  });
}
