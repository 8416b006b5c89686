import { TidingsError } from "../../src/kernel/errors.ts";
import type { ApiBody, ApiRequest, ApiResponse, Mountable } from "../../src/api/http.ts";
import { type MountOptions, below } from "./mount.ts";

/**
 * For whatever speaks `fetch`: Hono, Next, Bun, Deno. Answers every request, those outside `/v1` with the 404 problem.
 */
export function fetchHandler(
  engine: Mountable,
  options: MountOptions = {},
): (request: Request) => Promise<Response> {
  const inside = below(options);
  return async (request) => {
    const left = new AbortController();
    const answer = await engine.api.handle(new FetchRequest(request, inside, left));
    return toResponse(answer, request.method, left);
  };
}

class FetchRequest implements ApiRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly string[];
  readonly #request: Request;
  readonly #left: AbortController;

  constructor(request: Request, inside: (target: string) => string | null, left: AbortController) {
    const { url } = request;
    const slash = url.indexOf("/", url.indexOf("://") + 3);
    const hash = url.indexOf("#");
    this.method = request.method;
    this.url = url.slice(slash, hash === -1 ? undefined : hash);
    const target = inside(this.url) ?? "";
    const mark = target.indexOf("?");
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? "" : target.slice(mark + 1);
    this.headers = [...request.headers].flat();
    this.#request = request;
    this.#left = left;
  }

  get signal(): AbortSignal {
    const { signal } = this.#request;
    if (signal.aborted) this.#left.abort();
    else signal.addEventListener("abort", () => this.#left.abort(), { once: true });
    return this.#left.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    this.#refuseRead();
    if (this.#request.body === null) return;
    const reader = this.#request.body.getReader();
    const read = (): ReturnType<typeof reader.read> =>
      reader.read().catch(() => {
        throw new TidingsError("malformed_request", "The body ended early.");
      });
    let last = await read();
    try {
      for (; !last.done; last = await read()) yield last.value;
    } finally {
      // Stopped early, the rest is thrown away first: a client that still sends would lose an answer that ends before it.
      for (; !last.done; last = await reader.read().catch(() => nothing));
    }
  }

  #refuseRead(): void {
    if (!this.#request.bodyUsed) return;
    throw new TidingsError(
      "invalid_option",
      "The body was read before tidings saw it. Give tidings the request unread, or a clone made before.",
    );
  }

  async body(limit: number): Promise<ApiBody> {
    this.#refuseRead();
    return { kind: "bytes", bytes: await read(this.#request.body, limit) };
  }
}

const nothing = { done: true, value: undefined } as const;

async function read(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch {
    throw new TidingsError("malformed_request", "The body ended early.");
  }
  if (size > limit) {
    throw new TidingsError("body_too_large", `The body is larger than ${limit} bytes.`);
  }
  return Buffer.concat(chunks);
}

function toResponse(
  { status, headers, body }: ApiResponse,
  method: string,
  left: AbortController,
): Response {
  const init = { status, headers: { ...headers } };
  if (body === null || method === "HEAD") return new Response(null, init);
  if (typeof body === "string") return new Response(body, init);
  if (body instanceof Uint8Array) return new Response(Buffer.from(body), init);
  return new Response(streamOf(body, left), init);
}

const utf8 = new TextEncoder();

/** Pulls a chunk when the last was taken, and none ahead. */
function streamOf(
  chunks: AsyncIterable<string>,
  left: AbortController,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(utf8.encode(next.value));
      },
      async cancel() {
        left.abort();
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
