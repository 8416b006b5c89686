/** PostgreSQL's frontend/backend protocol as far as a proxy must know it (manual, "Frontend/Backend Protocol", message formats). */

/** A type of one byte (none: the startup message, which alone has no type), a length, a body. */
export interface Frame {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Takes a stream apart. A frame is answered when all of it is there. */
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
      // The length counts itself, but not the type.
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#startup = false;
      yield { type: head === 0 ? "" : String.fromCharCode(bytes.readUInt8(0)), bytes };
    }
  }
}

/** Follows what a client prepares and binds, so that an execution can be told by its SQL. */
export class Statements {
  readonly #prepared = new Map<string, string>();
  readonly #portals = new Map<string, string>();

  /** The SQL that a frame makes the server execute; undefined of one that doesn't. */
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

/** The two strings that a body begins with, each ended by a zero byte. */
function strings(bytes: Buffer): string[] {
  const first = bytes.indexOf(0, 5);
  const second = bytes.indexOf(0, first + 1);
  return [bytes.toString("utf8", 5, first), bytes.toString("utf8", first + 1, second)];
}
