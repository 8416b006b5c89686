import { createHash } from "node:crypto";

/** Something that happened in a world. */
export interface StoryEntry {
  /** Milliseconds since the world began. */
  readonly at: number;
  /** The names of engines, and the ids of messages and other resources, that it concerns. */
  readonly about: readonly string[];
  /** What happened, as a sentence without a full stop. */
  readonly text: string;
}

/** Everything that happened in a world, in order. Two runs of one seed have the same digest. */
export class Story {
  /** What has happened so far. */
  readonly entries: StoryEntry[] = [];
  readonly #now: () => number;
  readonly #hash = createHash("sha256");

  /** @internal */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Adds an entry about the resources and engines with these ids. */
  note(about: readonly string[], text: string): void {
    const entry = { at: this.#now(), about, text };
    this.entries.push(entry);
    this.#hash.update(`${entry.at} ${text} ${about.join(" ")}\n`);
  }

  /** The story as text, one line per entry: the time since the beginning, and what happened. */
  tell({ about, until, maxLines = 40 }: StoryOptions = {}): string {
    const past = this.entries.slice(0, until);
    const chosen = about === undefined ? past : relevant(past, about);
    const omitted = chosen.length - maxLines;
    return [
      ...(omitted > 0 ? [`  … ${omitted} earlier lines`] : []),
      ...chosen.slice(-maxLines).map(lineOf),
    ].join("\n");
  }

  /** A hash of all entries. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** The prefix and the last characters of an id: enough to recognize it in a report. */
export function shortId(id: string): string {
  const [prefix = "", rest = ""] = id.split("_", 2);
  return `${prefix}…${rest.slice(-5)}`;
}

/** The length up to which a text is quoted as a whole, in characters. */
const maxQuoted = 80;
/** How many characters of a longer text are quoted, from its start and from its end. */
const [quotedStart, quotedEnd] = [30, 10];

/** A text in quotes, on one line. The middle of a long text is left out. */
export function quoted(text: string): string {
  if (text.length <= maxQuoted) return JSON.stringify(text);
  const parts = [text.slice(0, quotedStart), text.slice(-quotedEnd)];
  return `${JSON.stringify(parts.join("…"))} (${text.length} characters)`;
}

/** Options of `Story.tell`. */
export interface StoryOptions {
  /** Ids of resources: only what concerns them is listed. Default: everything. */
  readonly about?: readonly string[] | undefined;
  /** How many of the first entries of the story to consider. Default: all. */
  readonly until?: number | undefined;
  /**
   * Maximum number of lines; the last ones are returned.
   * @default 40
   */
  readonly maxLines?: number | undefined;
}

/** Entries about an engine that are always shown. */
const ofEngines = /crashes|starts|stop|cut off/;

/** The entries about some resources, as `tell` prints them. */
function relevant(entries: readonly StoryEntry[], ids: readonly string[]): readonly StoryEntry[] {
  const involved = new Set(ids);
  const concerns = ({ about }: StoryEntry): boolean => about.some((id) => involved.has(id));
  const engines = new Set(
    entries.filter(concerns).flatMap(({ about }) => about.filter((id) => id.startsWith("engine"))),
  );
  return entries.filter((entry) => {
    const { about, text } = entry;
    if (about.length === 0 || concerns(entry)) return true;
    return about.length === 1 && about.some((id) => engines.has(id)) && ofEngines.test(text);
  });
}

function lineOf({ at, text }: StoryEntry): string {
  const seconds = `${(at / 1_000).toFixed(3)} s`.padStart(12);
  return `  ${seconds}  ${text}`;
}
