/** Runs the areas of the fuzzer, and tells how to repeat a failure. */
import fc from "fast-check";
import { areas } from "./areas.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** How many cases an area of share 1 tries. */
  readonly cases: number;
  /** Only the area of this name. */
  readonly only?: string | undefined;
  /** Repeats one case of a failure, which fast-check's path names. */
  readonly path?: string | undefined;
}

export interface FuzzResult {
  /** How many cases each area tried. */
  readonly tried: ReadonlyMap<string, number>;
  /** What broke, with the bytes and the command that repeats it. Undefined if all held. */
  readonly failure: string | undefined;
}

/** Bytes in a form that shows each of them, in lines that can be read. */
export function shownBytes(bytes: Uint8Array | string): string {
  const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("latin1");
  const lines = text.split(/(?<=\n)/).map((line) => JSON.stringify(line));
  return `  ${lines.join("\n  ")}`;
}

/** How long the smallest case that fails is looked for. */
const maxShrinkMs = 60_000;

/** Tries the cases of one seed. Stops at the first failure, which is shrunk. */
export async function fuzz({ seed, cases, only, path }: FuzzOptions): Promise<FuzzResult> {
  const tried = new Map<string, number>();
  for (const area of areas) {
    if (only !== undefined && area.name !== only) continue;
    let sent: (Uint8Array | string)[] = [];
    let shrinksUntil = Infinity;
    const property = fc.asyncProperty(area.cases, async (given) => {
      if (Date.now() > shrinksUntil) return;
      sent = [];
      try {
        await area.run(given, (bytes) => void sent.push(bytes));
      } catch (error) {
        shrinksUntil = Math.min(shrinksUntil, Date.now() + maxShrinkMs);
        throw error;
      }
    });
    const numRuns = Math.max(1, cases * area.share);
    const start = path === undefined ? {} : { path };
    const details = await fc.check(property, { seed, numRuns, ...start });
    tried.set(area.name, details.numRuns);
    if (!details.failed) continue;
    const { counterexample, counterexamplePath, errorInstance } = details;
    if (counterexample !== null) {
      // The last case that fast-check tried need not be the smallest one that fails.
      sent = [];
      await area.run(counterexample[0], (bytes) => void sent.push(bytes)).catch(() => {});
    }
    const failure = [
      `area ${area.name}, seed ${seed}: ${described(errorInstance)}`,
      "sent:",
      ...sent.map(shownBytes),
      `case: ${fc.stringify(counterexample).slice(0, 4_000)}`,
      `repeat it: npm run fuzz -- --area ${area.name} --seed ${seed} --path ${counterexamplePath}`,
    ].join("\n");
    return { tried, failure };
  }
  return { tried, failure: undefined };
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${described(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
