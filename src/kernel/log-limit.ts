interface Clock {
  now(): number;
}

/** The time between two log lines about one subject, in milliseconds. */
const quietMs = 60_000;
/** Different reasons that one log line names. */
const maxReasons = 10;

/** What has happened since the last log line. */
interface Problems {
  readonly count: number;
  /** Codes or texts, each once. */
  readonly reasons: readonly string[];
}

/**
 * Bounds what is logged about problems that can occur in any number: the first is logged at once,
 * then one summary per minute. The subjects are few and fixed. A limit for one kind of problem
 * needs none.
 */
export class LogLimit {
  readonly #clock: Clock;
  readonly #subjects = new Map<string, Problems & { readonly loggedAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a problem. Returns what to log now, if anything. */
  note(subject = "", reason = ""): Problems | undefined {
    const now = this.#clock.now();
    const before = this.#subjects.get(subject) ?? { count: 0, reasons: [], loggedAt: -Infinity };
    const { loggedAt } = before;
    const count = before.count + 1;
    const reasons = [...new Set([...before.reasons, reason])].slice(0, maxReasons);
    const isDue = Math.abs(now - loggedAt) >= quietMs;
    this.#subjects.set(
      subject,
      isDue ? { count: 0, reasons: [], loggedAt: now } : { count, reasons, loggedAt },
    );
    return isDue ? { count, reasons } : undefined;
  }

  /** Forgets the problems that were counted but not logged. */
  reset(subject = ""): void {
    const { loggedAt = -Infinity } = this.#subjects.get(subject) ?? {};
    this.#subjects.set(subject, { count: 0, reasons: [], loggedAt });
  }
}
