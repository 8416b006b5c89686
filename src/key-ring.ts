import { LRUCache } from "lru-cache";
import { accountById } from "./domain/accounts/rows.ts";
import { hashKey, parseKey } from "./domain/keys/format.ts";
import { keyById, keyByPreviousSecret, keyBySecret, keys, type KeyRow } from "./domain/keys/rows.ts";
import { judgeKey } from "./domain/keys/rules.ts";
import { TidingsError } from "./errors.ts";
import type { Caller } from "./operation.ts";
import type { Clock } from "./ports/clock.ts";
import type { Logger } from "./ports/logger.ts";
import type { Write } from "./ports/storage.ts";
import type { Scope } from "./scope.ts";
import type { Store } from "./transactions/store.ts";

/** Whose key it is, and what it may do. */
export interface Authenticated {
  readonly scope: Scope;
  readonly caller: Extract<Caller, { readonly type: "key" }>;
  /** Requests in any one second, by the account's plan. */
  readonly requests_per_second: number;
}

export interface KeyRingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Known {
  readonly key: KeyRow;
  readonly requests_per_second: number;
  /** When it was last written down that the key is in use. */
  noted_at: number;
}

const mostKnown = 10_000;
/** What another process revoked is still taken for this long, in milliseconds. What this one revoked is not taken again. */
const knownMs = 1_000;
/** How exact `last_used_at` is, in milliseconds: a write for each request would cost more than it tells. */
const noteEveryMs = 60_000;

/** Tells whose an API key is. What was looked up is remembered shortly, and forgotten when a key changes. */
export class KeyRing {
  readonly #options: KeyRingOptions;
  readonly #known: LRUCache<string, Known>;
  /** How often keys have changed: what was read before a change must not be remembered after it. */
  #changes = 0;

  constructor(options: KeyRingOptions) {
    this.#options = options;
    const { clock } = options;
    this.#known = new LRUCache({ max: mostKnown, ttl: knownMs, ttlResolution: 0, perf: { now: () => clock.now() } });
  }

  /** @throws TidingsError `invalid_api_key`, `expired_api_key` */
  async authenticate(text: string): Promise<Authenticated> {
    const hash = parseKey(text) === null ? undefined : hashKey(text);
    const known = hash === undefined ? undefined : (this.#known.get(hash) ?? (await this.#lookUp(hash)));
    if (hash === undefined || known === undefined) throw new TidingsError("invalid_api_key", "The API key is not valid.");
    const { key, requests_per_second } = known;
    const now = this.#options.clock.now();
    const verdict = judgeKey(key, hash, now);
    if (verdict === "expired") throw new TidingsError("expired_api_key", "The API key has expired.");
    if (verdict === "invalid") throw new TidingsError("invalid_api_key", "The API key is not valid.");
    if (now - known.noted_at >= noteEveryMs) this.#note(known, now);
    const { account_id, mode, id: key_id, scopes } = key;
    return { scope: { account_id, mode }, caller: { type: "key", key_id, scopes }, requests_per_second };
  }

  /** Forgets everything when a key was changed. */
  heed(writes: readonly Write[]): void {
    const changed = writes.some(
      (write) => write.collection === keys && !(write.kind === "update" && write.changed.join() === "last_used_at"),
    );
    if (!changed) return;
    this.#changes++;
    this.#known.clear();
  }

  async #lookUp(hash: string): Promise<Known | undefined> {
    const before = this.#changes;
    const { reads } = this.#options.store;
    const key = (await reads.get(keyBySecret, [hash])) ?? (await reads.get(keyByPreviousSecret, [hash]));
    const account = key && (await reads.get(accountById, [key.account_id]));
    if (key === undefined || account === undefined) return undefined;
    const { requests_per_second } = account;
    const known: Known = { key, requests_per_second, noted_at: key.last_used_at ?? 0 };
    if (this.#changes === before) this.#known.set(hash, known);
    return known;
  }

  /** Writes down that a key is in use. Nobody waits for it, and nothing hangs on it. */
  #note(known: Known, now: number): void {
    known.noted_at = now;
    const { account_id, mode, id } = known.key;
    const { store, logger } = this.#options;
    store
      .commit(async (tx) => {
        const key = await tx.get(keyById, [account_id, mode, id]);
        if (key !== undefined) tx.update(keys, key, { last_used_at: now });
      })
      .catch((error: unknown) => {
        logger.debug({ err: error, key_id: id }, "the use of a key was not noted");
      });
  }
}
