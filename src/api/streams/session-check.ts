import { scopeKey, type Scope, type WebchatSessionId } from "../../kernel/index.ts";
import type { Clock, Logger } from "../../ports/index.ts";
import type { Store } from "../../store/index.ts";
import { webchatSessionById } from "../../webchat/index.ts";

interface SessionCheckOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the sessions that have open streams. */
  readonly sessions: () => Iterable<OpenSession>;
  /** Called with the sessions that no longer exist. */
  readonly ended: (ids: ReadonlySet<WebchatSessionId>) => void;
}

interface OpenSession {
  readonly scope: Scope;
  readonly id: WebchatSessionId;
}

/** The minimum time from a request to its check, in milliseconds. Few commits remove a session. */
const delayMs = 5_000;
/** Sessions per read. */
const pageSize = 100;

/**
 * Finds the sessions that another process has removed, for all streams at once: a read per stream
 * would cost too much.
 */
export class SessionCheck {
  readonly #options: SessionCheckOptions;
  readonly #closed = new AbortController();
  #isPending = false;

  constructor(options: SessionCheckOptions) {
    this.#options = options;
  }

  /** Checks soon. Further calls until then have no effect. */
  request(): void {
    if (this.#isPending) return;
    this.#isPending = true;
    void this.#run();
  }

  /** Starts no more checks. */
  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    await clock.sleep(delayMs, this.#closed.signal);
    // A commit during the reads requests another check.
    this.#isPending = false;
    try {
      await this.#check();
    } catch (err) {
      // The next scan for mail requests another check.
      if (!this.#closed.signal.aborted) logger.warn({ err }, "failed to check webchat sessions");
    }
  }

  async #check(): Promise<void> {
    const { store, sessions, ended } = this.#options;
    const byScope = Map.groupBy(sessions(), ({ scope }) => scopeKey(scope));
    for (const own of byScope.values()) {
      for (let start = 0; start < own.length; start += pageSize) {
        if (this.#closed.signal.aborted) return;
        const page = own.slice(start, start + pageSize);
        const ids = new Set(page.map(({ id }) => id));
        const [first] = page;
        if (first === undefined) continue;
        const keys = [...ids].map((id) => [id] as const);
        for (const { id } of await store.reads(first.scope).getAll(webchatSessionById, keys)) {
          ids.delete(id);
        }
        if (ids.size > 0) ended(ids);
        // Reads of an embedded storage block the event loop.
        await store.yieldToEventLoop();
      }
    }
  }
}
