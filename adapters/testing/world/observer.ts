import type { Write } from "../../../src/ports/index.ts";
import type { EngineRun } from "./engine-run.ts";
import type { MetFault } from "./faults.ts";

/** Functions that are called when something happens. They must not call an engine. */
export interface WorldObserver {
  /** An engine has just committed these rows. */
  readonly onCommit?: ((run: EngineRun, writes: readonly Write[]) => void) | undefined;
  /** A fault, drawn by the seed or injected, happens to a call of an engine. */
  readonly onFault?: ((met: MetFault) => void) | undefined;
  /** An engine has logged a warning or an error. */
  readonly onLog?: ((line: LogLine) => void) | undefined;
}

/** A line that an engine logged. */
export interface LogLine {
  /** The name of the engine. */
  readonly engine: string;
  /** How serious it is. */
  readonly level: "warn" | "error";
  /** The facts, as the engine passed them to its logger. */
  readonly facts: object;
  /** The message. */
  readonly message: string;
}
