/** Requests and responses of `node:http` in the form that the API handler takes and returns. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiBody, ApiHandler, ApiRequest, ApiResponse } from "../../src/api/index.ts";
import { TidingsError } from "../../src/kernel/index.ts";
import { bodyTooLarge, endedEarly } from "./body-errors.ts";
import { pathAndQuery } from "./mount.ts";
import { earlierResponsesSent, mustWait } from "./pipelining.ts";

/** What an earlier body parser left on the framework's request. */
export interface Parsed {
  readonly body: unknown;
  readonly rawBody: unknown;
  /** Why the parser refused the body, if it did. */
  readonly refusal?: TidingsError;
}

/** What the framework says about a request of `node:http`. */
interface Framed {
  /** Path and query as the client sent them. */
  readonly url: string;
  /** Path and query below the mount point. */
  readonly target: string;
  readonly parsed: Parsed;
  readonly basePath?: string | undefined;
  /** The request of the framework. */
  readonly original: unknown;
}

/** A request of `node:http`. */
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
  readonly #parsed: Parsed;
  #disconnected: AbortController | undefined;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    { url, target, parsed, basePath, original }: Framed,
  ) {
    this.method = message.method ?? "GET";
    this.url = url;
    [this.path, this.query] = pathAndQuery(target);
    this.basePath = basePath;
    this.headers = message.rawHeaders;
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
      if (this.#response.closed) disconnected.abort();
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
      return { kind: "bytes", bytes };
    }
    const bytes = bytesOf(this.#parsed.rawBody) ?? bytesOf(this.#parsed.body);
    if (this.#parsed.body !== undefined) return { kind: "parsed", value: this.#parsed.body, bytes };
    if (bytes !== undefined) return { kind: "bytes", bytes };
    if (this.#parsed.refusal !== undefined) throw this.#parsed.refusal;
    throw bodyWasRead();
  }
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
  } catch {
    throw endedEarly();
  } finally {
    await discardRest(message);
  }
}

function discardRest(message: IncomingMessage): Promise<void> {
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
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      message.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        settle(() => reject(bodyTooLarge(limit)));
      }
    };
    const onEnd = (): void => {
      const [only] = chunks;
      settle(() =>
        resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)),
      );
    };
    // The client disconnected, or the body did not match its headers.
    const onBreak = (): void => settle(() => reject(endedEarly()));
    message.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
    if (message.destroyed) onBreak();
  });
}

/**
 * Handles a request when the responses before it on its connection are sent, and writes the
 * response. Never rejects: a failure half-way destroys the socket, so that the client does not take
 * a part of the response for all of it.
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
    response.destroy();
  }
}

/** Writes a response, and resolves when its last chunk is written. */
export async function send(
  { status, headers, body, cutOff }: ApiResponse,
  response: ServerResponse,
): Promise<void> {
  const destroy = (): unknown => response.destroy();
  cutOff?.addEventListener("abort", destroy, { once: true });
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
 * client would then lose what it has not received of the response (RFC 9112, section 9.6).
 */
export function closesTooEarly({ shouldKeepAlive, req }: ServerResponse): boolean {
  return !shouldKeepAlive && !req.complete;
}

async function writeChunks(chunks: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const chunk of chunks) {
    if (response.destroyed) return;
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
    if (response.destroyed) done();
  });
}
