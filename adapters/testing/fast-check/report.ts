import { memberOf, option, optionsObject, parseOptions } from "../../../src/kernel/index.ts";

/** What fast-check knows of a run: `fc.RunDetails`. */
export interface RunDetails {
  /** Whether the property failed. */
  readonly failed: boolean;
  /** How many cases were tried. */
  readonly numRuns: number;
  /** How often the failing case was made smaller. */
  readonly numShrinks: number;
  /** The seed of the run. */
  readonly seed: number;
  /** The smallest failing case. Null if the property held, or if no case could be tried. */
  readonly counterexample: readonly unknown[] | null;
  /** The way to that case. */
  readonly counterexamplePath: string | null;
  /** What the property threw. */
  readonly errorInstance: unknown;
}

const argumentsSchema = optionsObject({
  details: option<RunDetails>(
    "what fast-check knows of a run: pass `report` to `fc.assert` as the option `reporter`",
    (details) => typeof memberOf(details, "failed") === "boolean",
  ),
});

const replayPath = / ?\/\*(replayPath=("[^"]*"))\*\//;

/**
 * A reporter for `fc.assert(property, { reporter: report })`. It prints the smallest failing case,
 * with the story if a law of a world was broken, and the lines that replay it.
 * @throws Error when the property failed
 * @throws TidingsError `invalid_option` when it is not called by fast-check
 */
export function report(details: RunDetails): void {
  parseOptions("report: ", argumentsSchema, { details });
  const { failed, seed, numRuns, numShrinks, counterexample, errorInstance } = details;
  if (!failed) return;
  if (counterexample === null) {
    throw new Error(`The property could not be tried: no case passed its preconditions.`);
  }
  const values = counterexample.map(textOf);
  const all = values.join("");
  const path = replayPath.exec(all)?.[2];
  const casePath = details.counterexamplePath ?? "";
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const lines = [
    `The property failed in case ${numRuns}. It was made smaller ${numShrinks} times:`,
    ...values.map((value) => `  ${value.replace(replayPath, "")}`),
    reason,
    "Replay it with:",
    ...(path === undefined ? [] : [`  fc.commands(…, { replayPath: ${path} })`]),
    `  fc.assert(…, { seed: ${seed}, path: "${casePath}", endOnFailure: true })`,
  ];
  throw new Error(lines.join("\n"), { cause: errorInstance });
}

/** Plain values as JSON, and others by their own `toString`, such as the commands of a case. */
function textOf(value: unknown): string {
  const isPlain =
    typeof value !== "object" ||
    value === null ||
    Array.isArray(value) ||
    Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? (JSON.stringify(value) ?? "undefined") : (value as Printable).toString();
}

interface Printable {
  toString(): string;
}
