import { boundedCache, getOrInsert } from "../kernel/index.ts";
import type { Admission, Clock, StoragePort } from "../ports/index.ts";

const windowMs = 1_000;
/**
 * Maximum number of counted keys. The least recently used key is dropped: usually its log is empty
 * anyway.
 */
const maxKeys = 10_000;

/** Limits the request rate of API keys (all secrets of a key together) and of visitors. */
export interface RateLimiter {
  /** @throws TidingsError `storage_unavailable` if the storage counts for all processes */
  admit(key: string, limit: number): Promise<Admission>;
}

/**
 * Returns a limiter for all processes if the storage can count, or else for this process.
 * PostgreSQL counts by the same rule in SQL: `adapters/storage/postgres/admissions.ts`.
 */
export function rateLimiter(clock: Clock, storage: Pick<StoragePort, "admit">): RateLimiter {
  if (storage.admit === undefined) return localRateLimiter(clock);
  const admitAll = storage.admit.bind(storage);
  return {
    async admit(key, limit) {
      const [admission] = await admitAll([{ key, limit, window: windowMs }]);
      if (admission === undefined) {
        throw new TypeError("The storage returned no admission. Return one per request.");
      }
      return admission;
    },
  };
}

function localRateLimiter(clock: Clock): RateLimiter {
  const logs = boundedCache<string, SlidingLog>(maxKeys);
  return {
    async admit(key, limit) {
      const log = getOrInsert(logs, key, () => slidingLog(windowMs));
      return admit(log, limit, clock.monotonic());
    },
  };
}

/**
 * An exact rate limit that stores the times of the last admissions. A request is admitted if fewer
 * than its limit were admitted in the `window` before it, so every span of `window` milliseconds
 * admits at most the limit. A refusal uses no quota. The limit may change from request to request:
 * earlier admissions count against the new limit.
 */
interface SlidingLog {
  /** In milliseconds. */
  readonly window: number;
  /**
   * A ring buffer of `count` admissions in ascending order, the oldest at `oldest`. It grows on
   * demand, up to the limit.
   */
  times: Float64Array;
  oldest: number;
  count: number;
}

/** The initial capacity. Rarely used keys need no more. */
const minCapacity = 16;

export function slidingLog(window: number): SlidingLog {
  return { window, times: new Float64Array(minCapacity), oldest: 0, count: 0 };
}

/** Admits or refuses one request at `time`, in milliseconds on a clock that never steps back. */
export function admit(log: SlidingLog, limit: number, time: number): Admission {
  dropExpired(log, time);
  const admitted = log.count < limit;
  if (admitted) {
    if (log.count === log.times.length) grow(log, limit);
    log.times[(log.oldest + log.count) % log.times.length] = time;
    log.count += 1;
  }
  const expiryOf = (index: number): number => log.window - (time - admissionAt(log, index));
  // A limit that was lowered may be exceeded by earlier admissions.
  const remaining = Math.max(0, limit - log.count);
  return {
    admitted,
    limit,
    remaining,
    reset_ms: expiryOf(log.count - 1),
    retry_after_ms: remaining > 0 ? 0 : expiryOf(log.count - limit),
  };
}

function dropExpired(log: SlidingLog, time: number): void {
  while (log.count > 0 && admissionAt(log, 0) <= time - log.window) {
    log.oldest = (log.oldest + 1) % log.times.length;
    log.count -= 1;
  }
}

function admissionAt(log: SlidingLog, index: number): number {
  return log.times[(log.oldest + index) % log.times.length] ?? Number.NEGATIVE_INFINITY;
}

function grow(log: SlidingLog, limit: number): void {
  const { times, oldest } = log;
  const larger = new Float64Array(Math.min(times.length * 2, limit));
  larger.set(times.subarray(oldest));
  larger.set(times.subarray(0, oldest), times.length - oldest);
  log.times = larger;
  log.oldest = 0;
}
