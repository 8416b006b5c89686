import {
  boundedCache,
  getOrInsert,
  TidingsError,
  type KeyId,
  type Scope,
} from "../../kernel/index.ts";
import type { KeyCaller, Runtime } from "../../operations/index.ts";
import type { Write } from "../../ports/index.ts";
import { accountById } from "../rows.ts";
import { checkKey, keyExpired } from "./check-key.ts";
import { hashKey, isWellFormedKey } from "./key-format.ts";
import { keyById, keyByPreviousHash, keyBySecretHash, keys, type KeyRow } from "./rows.ts";

/** The scope of a valid key, and what the key may do. */
export interface Authenticated {
  readonly scope: Scope;
  readonly caller: KeyCaller;
  /** The plan's limit per API key. */
  readonly requests_per_second: number;
}

interface CachedKey {
  readonly key: KeyRow;
  readonly requests_per_second: number;
  readonly read_at: number;
  /** The cache's generation when the read began. A change during the read makes the entry stale. */
  readonly generation: number;
}

const maxCached = 10_000;
/**
 * How long a look-up is cached, in milliseconds. A key that another process revoked can stay valid
 * here for this long, unless the storage reports the change earlier. A key that this process
 * revoked is refused at once.
 */
const cacheMs = 1_000;
/**
 * The precision of `last_used_at`, in milliseconds. A write for each request would cost too much.
 */
const useWriteIntervalMs = 60_000;

/** Whether a write may change what a key may do. */
export function changesKey(write: Write): boolean {
  return (
    write.collection === keys &&
    !(write.kind === "update" && write.changed.join() === "last_used_at")
  );
}

/** Authenticates API keys. It caches look-ups briefly and drops them when a key changes. */
export class KeyRing {
  readonly #options: Pick<Runtime, "store" | "clock" | "logger">;
  readonly #cache = boundedCache<string, CachedKey>(maxCached);
  /**
   * Entries of an earlier generation are stale. Counting up is cheaper than clearing the cache.
   */
  #generation = 0;
  /** Look-ups in progress, which callers share. It has none that began before the last change. */
  readonly #pending = new Map<string, Promise<CachedKey | undefined>>();
  /** When this process last wrote a key's `last_used_at`. */
  readonly #useWritten = boundedCache<KeyId, number>(maxCached);

  constructor(options: Pick<Runtime, "store" | "clock" | "logger">) {
    this.#options = options;
  }

  /** @throws TidingsError `invalid_api_key` or `expired_api_key` */
  async authenticate(text: string): Promise<Authenticated> {
    const hash = hashKey(text);
    // The checksum spares the storage look-ups of mistyped keys. A cached key needs none.
    const known =
      this.#cached(hash) ?? (isWellFormedKey(text) ? await this.#lookUp(hash) : undefined);
    const now = this.#options.clock.now();
    const verdict = known && checkKey(known.key, hash, now);
    if (verdict === "expired") throw new TidingsError("expired_api_key", keyExpired);
    if (verdict === "replaced") {
      throw new TidingsError(
        "expired_api_key",
        "The API key was rotated, and the grace period of this secret is over. Use the new secret.",
      );
    }
    if (known === undefined || verdict === "invalid") {
      throw new TidingsError("invalid_api_key", "The API key is not valid.");
    }
    const { key, requests_per_second } = known;
    this.#recordUse(key, now);
    const { account_id, mode, id: key_id, scopes } = key;
    const caller: KeyCaller = { type: "key", key_id, scopes, secret_hash: hash };
    return { scope: { account_id, mode }, caller, requests_per_second };
  }

  /** Whether the key of an authenticated caller is still valid. */
  async isValid({ secret_hash }: KeyCaller): Promise<boolean> {
    const known = this.#cached(secret_hash) ?? (await this.#lookUp(secret_hash));
    return (
      known !== undefined && checkKey(known.key, secret_hash, this.#options.clock.now()) === "valid"
    );
  }

  /** Drops the cached keys if a commit changed any key. */
  onWrites(writes: readonly Write[]): void {
    if (writes.some(changesKey)) this.invalidate();
  }

  /** Drops all cached keys. Another process may have changed one. */
  invalidate(): void {
    this.#generation++;
    this.#pending.clear();
  }

  #cached(hash: string): CachedKey | undefined {
    const known = this.#cache.get(hash);
    if (known?.generation !== this.#generation) return undefined;
    const age = this.#options.clock.now() - known.read_at;
    // A negative age means that the clock was set back. The entry's true age is then unknown.
    return age >= 0 && age < cacheMs ? known : undefined;
  }

  /** Looks a key up in the storage. Callers that look for the same key share one look-up. */
  #lookUp(hash: string): Promise<CachedKey | undefined> {
    return getOrInsert(this.#pending, hash, () => {
      const reading = this.#read(hash).finally(() => {
        if (this.#pending.get(hash) === reading) this.#pending.delete(hash);
      });
      return reading;
    });
  }

  async #read(hash: string): Promise<CachedKey | undefined> {
    const { store, clock } = this.#options;
    const reads = store.unscopedReads;
    const read_at = clock.now();
    const generation = this.#generation;
    const key =
      (await reads.get(keyBySecretHash, [hash])) ?? (await reads.get(keyByPreviousHash, [hash]));
    const account = key && (await reads.get(accountById, [key.account_id]));
    if (key === undefined || account === undefined) return undefined;
    const { requests_per_second } = account;
    const found: CachedKey = { key, requests_per_second, read_at, generation };
    this.#cache.set(hash, found);
    return found;
  }

  /** Updates `last_used_at` in the background. A failure has no effect on the request. */
  #recordUse(used: KeyRow, now: number): void {
    const { id, last_used_at } = used;
    const age = now - (this.#useWritten.get(id) ?? last_used_at ?? -Infinity);
    if (age >= 0 && age < useWriteIntervalMs) return;
    this.#useWritten.set(id, now);
    const { store, logger } = this.#options;
    store
      .commit(used, async (tx) => {
        const key = await tx.get(keyById, [id]);
        if (key !== undefined) tx.update(keys, key, { last_used_at: now });
      })
      .catch((error: unknown) => {
        logger.debug({ err: error, key_id: id }, "last_used_at of an API key could not be updated");
      });
  }
}
