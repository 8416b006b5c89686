/**
 * The part of PostgreSQL's frontend/backend protocol that a proxy must understand (PostgreSQL
 * manual, "Message Formats").
 */

/** A message: a type byte (empty for the startup message, which has none), a length and a body. */
export interface Frame {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Splits a stream into messages. A message is returned once all of it has arrived. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);
  #startup: boolean;

  constructor({ startup }: { readonly startup: boolean }) {
    this.#startup = startup;
  }

  *push(chunk: Buffer): Generator<Frame> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const head = this.#startup ? 0 : 1;
      if (this.#rest.length < head + 4) return;
      // The length includes itself, but not the type byte.
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#startup = false;
      yield { type: head === 0 ? "" : String.fromCharCode(bytes.readUInt8(0)), bytes };
    }
  }
}

/** Tracks prepared statements and portals, to know which SQL an Execute message runs. */
export class Statements {
  readonly #prepared = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  /** The SQL that a message makes the server run; undefined if it runs none. */
  executedBy({ type, bytes }: Frame): string | undefined {
    const [first = "", second = ""] = strings(bytes);
    switch (type) {
      case "Q":
        return first;
      case "P":
        this.#prepared.set(first, second);
        return undefined;
      case "B":
        this.#portals.set(first, this.#prepared.get(second) ?? "");
        return undefined;
      case "E":
        return this.#portals.get(first) ?? "";
      default:
        return undefined;
    }
  }
}

/** The first two zero-terminated strings of a body. */
function strings(bytes: Buffer): string[] {
  const first = bytes.indexOf(0, 5);
  const second = bytes.indexOf(0, first + 1);
  return [bytes.toString("utf8", 5, first), bytes.toString("utf8", first + 1, second)];
}
