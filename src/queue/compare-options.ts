import type { Clock, Logger } from "../ports/index.ts";

/**
 * The names in some options of an engine, such as those of its policies, by option. All engines on
 * one storage should have the same, because the engine that hands a message over applies its own.
 * Options that only some engines have are not compared.
 */
export type ComparedOptions = Readonly<Record<string, readonly string[]>>;

interface OtherEngine {
  readonly started_at: number;
  readonly options: ComparedOptions;
}

interface OptionWarningsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly own: ComparedOptions;
}

/** While a new version is deployed, engines differ for some minutes. */
const patienceMs = 600_000;

/** Warns once of each difference between this engine and others, if it lasts for some time. */
export class OptionWarnings {
  readonly #options: OptionWarningsOptions;
  /** When each difference was first seen, by the monotonic clock. Infinite after its warning. */
  readonly #since = new Map<string, number>();

  constructor(options: OptionWarningsOptions) {
    this.#options = options;
  }

  /** Compares this engine with all other engines that are alive. */
  check(others: readonly OtherEngine[]): void {
    const { clock, logger, own } = this.#options;
    const now = clock.monotonic();
    const seen = new Set<string>();
    for (const { started_at, options } of others) {
      const missing_here = missingOptions(own, options);
      const missing_there = missingOptions(options, own);
      if (missing_here.length === 0 && missing_there.length === 0) continue;
      const difference = JSON.stringify([missing_here, missing_there]);
      seen.add(difference);
      const since = this.#since.get(difference) ?? now;
      const isDue = now - since >= patienceMs;
      this.#since.set(difference, isDue ? Infinity : since);
      if (!isDue) continue;
      logger.warn(
        { started_at: new Date(started_at).toISOString(), missing_here, missing_there },
        "another engine on this storage has other options; give all engines the same options",
      );
    }
    for (const [difference, since] of this.#since) {
      if (since !== Infinity && !seen.has(difference)) this.#since.delete(difference);
    }
  }
}

/** Returns the names that one engine lacks and another has, such as `policies: night_rest`. */
export function missingOptions(lacks: ComparedOptions, has: ComparedOptions): readonly string[] {
  return Object.entries(has).flatMap(([option, names]) => {
    const own = lacks[option];
    if (own === undefined) return [];
    return names.filter((name) => !own.includes(name)).map((name) => `${option}: ${name}`);
  });
}
