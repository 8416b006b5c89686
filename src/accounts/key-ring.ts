import { LRUCache } from "lru-cache";
import { accountById } from "./rows.ts";
import { hashKey, parseKey } from "./key-format.ts";
import { keyById, keyByPreviousSecret, keyBySecret, keys, type KeyRow } from "./key-rows.ts";
import { judgeKey } from "./key-rules.ts";
import { type KeyId, type Scope, TidingsError } from "../kernel/index.ts";
import type { KeyCaller } from "../operations/index.ts";
import type { Clock, Logger, Write } from "../ports/index.ts";
import type { Store } from "../store/index.ts";

/** Whose key it is, and what it may do. */
export interface Authenticated {
  readonly scope: Scope;
  readonly caller: KeyCaller;
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
  readonly read_at: number;
  /** How often everything had been forgotten by then. */
  readonly forgotten: number;
}

const mostKnown = 10_000;
/**
 * What another process revoked is still taken for this long, in milliseconds, unless the storage tells of it before. What this one
 * revoked is not taken again.
 */
const knownMs = 1_000;
/** How exact `last_used_at` is, in milliseconds: a write for each request would cost more than it tells. */
const noteEveryMs = 60_000;

/** Tells whose an API key is. What was looked up is remembered shortly, and forgotten when a key changes. */
export class KeyRing {
  readonly #options: KeyRingOptions;
  readonly #known = new LRUCache<string, Known>({ max: mostKnown });
  /** What was looked up before the last time doesn't count: emptying so large a cache costs more than a command. */
  #forgotten = 0;
  /** Look-ups that who asks now can share. One that began before a change is not among them. */
  readonly #underWay = new Map<string, Promise<Known | undefined>>();
  /** When this process last wrote down that a key is in use. */
  readonly #noted = new LRUCache<KeyId, number>({ max: mostKnown });

  constructor(options: KeyRingOptions) {
    this.#options = options;
  }

  /** @throws TidingsError `invalid_api_key`, `expired_api_key` */
  async authenticate(text: string): Promise<Authenticated> {
    const hash = parseKey(text) === null ? undefined : hashKey(text);
    const known = hash === undefined ? undefined : await this.#knownBy(hash);
    if (hash === undefined || known === undefined) {
      throw new TidingsError("invalid_api_key", "The API key is not valid.");
    }
    const { key, requests_per_second } = known;
    const now = this.#options.clock.now();
    const verdict = judgeKey(key, hash, now);
    if (verdict === "expired") {
      throw new TidingsError("expired_api_key", "The API key has expired.");
    }
    if (verdict === "invalid") {
      throw new TidingsError("invalid_api_key", "The API key is not valid.");
    }
    this.#note(key, now);
    const { account_id, mode, id: key_id, scopes, expires_at } = key;
    const caller: KeyCaller = { type: "key", key_id, scopes, expires_at, secret_hash: hash };
    return { scope: { account_id, mode }, caller, requests_per_second };
  }

  /** Whether a caller that was let in would be let in again. */
  async isValid({ secret_hash }: KeyCaller): Promise<boolean> {
    const known = await this.#knownBy(secret_hash);
    return (
      known !== undefined && judgeKey(known.key, secret_hash, this.#options.clock.now()) === "valid"
    );
  }

  /** Forgets everything when a key was changed. */
  heed(writes: readonly Write[]): void {
    const changed = writes.some(
      (write) =>
        write.collection === keys &&
        !(write.kind === "update" && write.changed.join() === "last_used_at"),
    );
    if (changed) this.forget();
  }

  /** Another process may have changed keys. */
  forget(): void {
    this.#forgotten++;
    this.#underWay.clear();
  }

  async #knownBy(hash: string): Promise<Known | undefined> {
    const known = this.#known.get(hash);
    const age = known === undefined ? Infinity : this.#options.clock.now() - known.read_at;
    // What was read in the future was read before the clock was set back, who knows how long ago.
    if (known?.forgotten === this.#forgotten && age >= 0 && age < knownMs) return known;
    const shared = this.#underWay.get(hash);
    if (shared !== undefined) return shared;
    const lookingUp = this.#lookUp(hash);
    this.#underWay.set(hash, lookingUp);
    let found: Known | undefined;
    try {
      found = await lookingUp;
    } finally {
      // What was read before a change must not be remembered after it.
      if (this.#underWay.get(hash) === lookingUp) {
        this.#underWay.delete(hash);
        if (found !== undefined) this.#known.set(hash, found);
      }
    }
    return found;
  }

  async #lookUp(hash: string): Promise<Known | undefined> {
    const { store, clock } = this.#options;
    const reads = store.unscopedReads;
    const read_at = clock.now();
    const forgotten = this.#forgotten;
    const key =
      (await reads.get(keyBySecret, [hash])) ?? (await reads.get(keyByPreviousSecret, [hash]));
    const account = key && (await reads.get(accountById, [key.account_id]));
    if (key === undefined || account === undefined) return undefined;
    return { key, requests_per_second: account.requests_per_second, read_at, forgotten };
  }

  /** Writes down that a key is in use. Nobody waits for it, and nothing hangs on it. */
  #note(noted: KeyRow, now: number): void {
    const { id, last_used_at } = noted;
    const age = now - (this.#noted.get(id) ?? last_used_at ?? -Infinity);
    if (age >= 0 && age < noteEveryMs) return;
    this.#noted.set(id, now);
    const { store, logger } = this.#options;
    store
      .commit(noted, async (tx) => {
        const key = await tx.get(keyById, [id]);
        if (key !== undefined) tx.update(keys, key, { last_used_at: now });
      })
      .catch((error: unknown) => {
        logger.debug({ err: error, key_id: id }, "the use of a key was not noted");
      });
  }
}
