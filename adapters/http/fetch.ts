import type { ApiBody, ApiRequest, ApiResponse, Mountable } from "../../src/api/index.ts";
import {
  bodyEndedEarly,
  bodyTooLarge,
  ByteCollector,
  functionOption,
  TidingsError,
} from "../../src/kernel/index.ts";
import { checkMount, type MountOptions } from "./mount.ts";
import { pathAndQuery, stripBasePath } from "./paths.ts";

/** Options of `fetchHandler`. */
export interface FetchOptions extends MountOptions {
  /**
   * Returns the IP address at the other end of a request's connection, such as
   * `server.requestIP(request)?.address` on Bun. A page without `authorize` needs it. By default
   * the address is unknown.
   */
  readonly remoteAddress?: ((request: Request) => string | undefined) | undefined;
}

const remoteAddress = functionOption(
  "a function that returns the address of a request's client",
).optional();

/**
 * Returns a function from `Request` to `Response`, for Hono, Next.js, Bun, Deno and other `fetch`
 * servers. `engine` is an engine or a page, such as `inboxHandler(engine)`. It handles every
 * request: one outside `/v1`, or outside the page, gets a 404 problem.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown
 */
export function fetchHandler(
  engine: Mountable,
  options: FetchOptions = {},
): (request: Request) => Promise<Response> {
  checkMount("fetchHandler", engine, options, { remoteAddress });
  return async (request) => {
    const disconnected = new AbortController();
    const response = await engine.api.handle(new FetchRequest(request, options, disconnected));
    return toResponse(response, request.method, disconnected);
  };
}

class FetchRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly basePath: string;
  readonly headers: readonly string[];
  readonly original: Request;
  readonly #addressOf: FetchOptions["remoteAddress"];
  readonly #disconnected: AbortController;

  constructor(request: Request, options: FetchOptions, disconnected: AbortController) {
    const { url } = request;
    const slash = url.indexOf("/", url.indexOf("://") + 3);
    const hash = url.indexOf("#");
    this.method = request.method;
    this.url = url.slice(slash, hash === -1 ? undefined : hash);
    const target = stripBasePath(options)(this.url) ?? "";
    [this.path, this.query] = pathAndQuery(target);
    this.basePath = options.basePath ?? "";
    this.headers = [...request.headers].flat();
    this.#addressOf = options.remoteAddress;
    this.original = request;
    this.#disconnected = disconnected;
  }

  get remoteAddress(): string | undefined {
    return this.#addressOf?.(this.original);
  }

  get signal(): AbortSignal {
    const { signal } = this.original;
    if (signal.aborted) this.#disconnected.abort();
    else signal.addEventListener("abort", () => this.#disconnected.abort(), { once: true });
    return this.#disconnected.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    this.#refuseWhenRead();
    if (this.original.body === null) return;
    const reader = this.original.body.getReader();
    const next = (): ReturnType<typeof reader.read> =>
      reader.read().catch(() => {
        throw bodyEndedEarly();
      });
    let result = await next();
    try {
      for (; !result.done; result = await next()) yield result.value;
    } finally {
      // When the consumer stops early, discard the rest. A client that is still sending would not
      // see a response that arrives before it finishes.
      for (; !result.done; result = await reader.read().catch(() => ended));
    }
  }

  #refuseWhenRead(): void {
    if (!this.original.bodyUsed) return;
    throw new TidingsError(
      "invalid_option",
      "The request body was already read. Pass tidings the unread request, or a clone made " +
        "before the body was read.",
    );
  }

  async body(limit: number): Promise<ApiBody> {
    this.#refuseWhenRead();
    return { kind: "bytes", bytes: await readAll(this.original.body, limit) };
  }
}

const ended = { done: true, value: undefined } as const;

async function readAll(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const collected = new ByteCollector();
  let size = 0;
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit) break;
      collected.add(chunk);
    }
  } catch {
    throw bodyEndedEarly();
  }
  if (size > limit) throw bodyTooLarge(limit);
  return collected.bytes;
}

function toResponse(
  { status, headers, body, cutOff }: ApiResponse,
  method: string,
  disconnected: AbortController,
): Response {
  const init = { status, headers: { ...headers } };
  if (body === null) return new Response(null, init);
  if (method === "HEAD") {
    // Otherwise servers such as Bun and Deno send the length of an empty body.
    if (typeof body === "string" || body instanceof Uint8Array) {
      init.headers["Content-Length"] = String(Buffer.byteLength(body));
    }
    return new Response(null, init);
  }
  if (typeof body === "string") return new Response(body, init);
  if (body instanceof Uint8Array) return new Response(Buffer.from(body), init);
  return new Response(streamOf(body, disconnected, cutOff), init);
}

const utf8 = new TextEncoder();

/** Pulls the next chunk only when the client has taken the last one. */
function streamOf(
  chunks: AsyncIterable<string>,
  disconnected: AbortController,
  cutOff: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      start(controller) {
        const fail = (): void => {
          disconnected.abort();
          controller.error(new Error("the client takes the stream too slowly"));
        };
        cutOff?.addEventListener("abort", fail, { once: true });
      },
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(utf8.encode(next.value));
      },
      async cancel() {
        disconnected.abort();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
