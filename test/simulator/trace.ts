import { createHash } from "node:crypto";
import type { Finding } from "./invariant.ts";

/** Something that happened. */
export interface Entry {
  /** Milliseconds since the simulation began. */
  readonly at: number;
  /** The ids of the engines, messages, conversations and contacts that it concerns. */
  readonly about: readonly string[];
  readonly text: string;
}

/** Everything that happened, in order. Two runs of one seed have the same digest. */
export class Trace {
  readonly entries: Entry[] = [];
  readonly #now: () => number;
  readonly #hash = createHash("sha256");

  constructor(now: () => number) {
    this.#now = now;
  }

  note(about: readonly string[], text: string): void {
    const entry = { at: this.#now(), about, text };
    this.entries.push(entry);
    this.#hash.update(`${entry.at} ${text} ${about.join(" ")}\n`);
  }

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** The prefix and the last characters of an id: enough to recognize it in a report. */
export function shortId(id: string): string {
  const [prefix = "", rest = ""] = id.split("_", 2);
  return `${prefix}…${rest.slice(-5)}`;
}

const maxLines = 40;

/** The violation, the trace entries about the resources involved, and the command to replay it. */
export function failureReport(seed: number, steps: number, finding: Finding, trace: Trace): string {
  const past = trace.entries.slice(0, finding.at);
  const involved = new Set(finding.about);
  const engines = new Set(
    past
      .filter(({ about }) => about.some((id) => involved.has(id)))
      .flatMap(({ about }) => about.filter((id) => id.startsWith("engine"))),
  );
  const relevant = past.filter(({ about, text }) => {
    if (about.some((id) => involved.has(id)) || about.length === 0) return true;
    return (
      about.length === 1 && about.some((id) => engines.has(id)) && /crashes|starts|stop/.test(text)
    );
  });
  const lines = relevant.slice(-maxLines).map(({ at, text }) => `  ${seconds(at)}  ${text}`);
  const omitted = relevant.length - maxLines;
  return [
    `seed ${seed} violates "${finding.invariant}"`,
    `  ${finding.description}`,
    "The trace before it:",
    ...(omitted > 0 ? [`  … ${omitted} earlier lines`] : []),
    ...lines,
    `Replay: npm run simulate -- --seed ${seed} --steps ${steps}`,
  ].join("\n");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`.padStart(12);
}
