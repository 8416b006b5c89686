import type { IncomingMessage, ServerResponse } from "node:http";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { ApiBody, ApiRequest } from "../../src/api/http.ts";

/** What a body parser before us left on the framework's request. */
export interface Parsed {
  readonly body: unknown;
  readonly rawBody: unknown;
  /** Why it left nothing. */
  readonly refusal?: TidingsError;
}

/** A request of node:http, seen by the handler. `target` is its path and query below the mount point. */
export class NodeRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly string[];
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parsed: Parsed;
  #left: AbortController | undefined;

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    url: string,
    target: string,
    parsed: Parsed,
  ) {
    const mark = target.indexOf("?");
    this.method = message.method ?? "GET";
    this.url = url;
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? "" : target.slice(mark + 1);
    this.headers = message.rawHeaders;
    this.#message = message;
    this.#response = response;
    this.#parsed = parsed;
  }

  get signal(): AbortSignal {
    if (this.#left === undefined) {
      const left = new AbortController();
      this.#left = left;
      if (this.#response.closed) left.abort();
      else this.#response.once("close", () => left.abort());
    }
    return this.#left.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    if (!this.#message.readableDidRead && !this.#message.readableEnded) {
      yield* pour(this.#message);
      return;
    }
    const { bytes } = await this.body(0);
    if (bytes === undefined) throw bodyRead();
    yield bytes;
  }

  async body(limit: number): Promise<ApiBody> {
    // A parser that skipped a request may still have set a body: whether the bytes are gone tells.
    if (!this.#message.readableDidRead) {
      const bytes = this.#message.readableEnded
        ? new Uint8Array()
        : await read(this.#message, limit);
      return { kind: "bytes", bytes };
    }
    const bytes = bytesOf(this.#parsed.rawBody) ?? bytesOf(this.#parsed.body);
    if (this.#parsed.body !== undefined) return { kind: "parsed", value: this.#parsed.body, bytes };
    if (bytes !== undefined) return { kind: "bytes", bytes };
    if (this.#parsed.refusal !== undefined) throw this.#parsed.refusal;
    throw bodyRead();
  }
}

const ended = (): TidingsError => new TidingsError("malformed_request", "The body ended early.");

const bodyRead = (): TidingsError =>
  new TidingsError(
    "invalid_option",
    "The body was read before tidings saw it. Mount tidings before what reads it, or keep the bytes as `rawBody`.",
  );

/** Stopped early, the rest is read and thrown away first: a client that still sends would lose an answer that ends before it. */
async function* pour(message: IncomingMessage): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of message.iterator({ destroyOnReturn: false })) {
      yield chunk as Uint8Array;
    }
  } catch {
    throw ended();
  } finally {
    await drained(message);
  }
}

function drained(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (message.readableEnded || message.destroyed) resolve();
    else message.on("end", resolve).on("error", resolve).on("close", resolve).resume();
  });
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (typeof body === "string") return Buffer.from(body);
  return body instanceof Uint8Array ? body : undefined;
}

/** Reads all of it, or as much as is needed to refuse it; node throws the rest away. */
function read(message: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (act: () => void): void => {
      message.off("data", take).off("end", end).off("error", leave).off("close", leave);
      act();
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        settle(() =>
          reject(new TidingsError("body_too_large", `The body is larger than ${limit} bytes.`)),
        );
      }
    };
    const end = (): void => {
      const [only] = chunks;
      settle(() =>
        resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)),
      );
    };
    // The client left, or its body was not what its headers said.
    const leave = (): void => settle(() => reject(ended()));
    message.on("data", take).on("end", end).on("error", leave).on("close", leave);
    if (message.destroyed) leave();
  });
}
