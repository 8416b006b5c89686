import { LRUCache } from "lru-cache";
import type { Admission, Clock, StoragePort } from "../ports/index.ts";
import { admit, type SlidingLog, slidingLog } from "./sliding-log.ts";

const windowMs = 1_000;
/** Keys that are counted at a time. One that was not used for longest gives way: its log is empty, or the limit is the least worry. */
const mostKeys = 10_000;

/** Counts the requests of API keys, whatever their secrets, and of visitors. */
export interface RateLimiter {
  /** @throws TidingsError `storage_unavailable`, where all processes count together */
  admit(key: string, limit: number): Promise<Admission>;
}

/** One for all processes where the storage counts for them, else one for this process. */
export function rateLimiter(clock: Clock, storage: Pick<StoragePort, "admit">): RateLimiter {
  if (storage.admit === undefined) return new OwnRateLimiter(clock);
  const admit = storage.admit.bind(storage);
  return {
    async admit(key, limit) {
      const [admission] = await admit([{ key, limit, window: windowMs }]);
      if (admission === undefined) throw new TypeError("the storage gave no answer to a request");
      return admission;
    },
  };
}

class OwnRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #logs = new LRUCache<string, SlidingLog>({ max: mostKeys });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async admit(key: string, limit: number): Promise<Admission> {
    let log = this.#logs.get(key);
    if (log?.limit !== limit) {
      log = slidingLog(limit, windowMs);
      this.#logs.set(key, log);
    }
    return admit(log, this.#clock.now());
  }
}
