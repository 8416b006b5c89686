import type { IncomingMessage } from "node:http";
import type { HttpResponse } from "../../src/ports/http-client.ts";

/** A response as far as it has come, and of its body no more than there is room for. */
export class Received {
  readonly #head: IncomingMessage;
  readonly #kept: Uint8Array[] = [];
  #room: number;

  constructor(head: IncomingMessage, mostBodyBytes: number) {
    this.#head = head;
    this.#room = mostBodyBytes;
  }

  get isWhole(): boolean {
    return this.#head.complete;
  }

  /** Answers whether there was room for all of it. */
  keep(chunk: Uint8Array): boolean {
    const fits = chunk.length <= this.#room;
    const part = fits ? chunk : chunk.subarray(0, this.#room);
    this.#kept.push(part);
    this.#room -= part.length;
    return fits;
  }

  response(truncated: boolean): HttpResponse {
    return {
      status: this.#head.statusCode ?? 0,
      headers: folded(this.#head.rawHeaders),
      body: new Uint8Array(Buffer.concat(this.#kept)),
      truncated,
    };
  }
}

function folded(raw: readonly string[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = "", value = ""] = [raw[i]?.toLowerCase(), raw[i + 1]];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
