import { LRUCache } from "lru-cache";
import type { KeyId } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission } from "../ports/storage.ts";
import { admit, type SlidingLog, slidingLog } from "./sliding-log.ts";

const windowMs = 1_000;
/** Keys that are counted at a time. One that was not used for longest gives way: its log is empty, or the limit is the least worry. */
const mostKeys = 10_000;

/** The rate limit of one process: a log for each key, whatever its secret. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #logs = new LRUCache<KeyId, SlidingLog>({ max: mostKeys });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  admit(key: KeyId, limit: number): Admission {
    let log = this.#logs.get(key);
    if (log?.limit !== limit) {
      log = slidingLog(limit, windowMs);
      this.#logs.set(key, log);
    }
    return admit(log, this.#clock.now());
  }
}
