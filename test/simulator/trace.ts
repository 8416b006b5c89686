import { createHash } from "node:crypto";

/** One thing that happened: when, to whom, in words. */
export interface Entry {
  /** Milliseconds since the simulation began. */
  readonly at: number;
  /** The ids of engines, messages, conversations and contacts that it is about. */
  readonly about: readonly string[];
  readonly says: string;
}

/** Everything that happened, in order. Two runs of one seed have the same digest. */
export class Trace {
  readonly entries: Entry[] = [];
  readonly #now: () => number;
  readonly #hash = createHash("sha256");

  constructor(now: () => number) {
    this.#now = now;
  }

  note(about: readonly string[], says: string): void {
    const entry = { at: this.#now(), about, says };
    this.entries.push(entry);
    this.#hash.update(`${entry.at} ${says} ${about.join(" ")}\n`);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** The end of an id: enough to tell it from others in a story. */
export function short(id: string): string {
  const [prefix = "", rest = ""] = id.split("_", 2);
  return `${prefix}…${rest.slice(-5)}`;
}
