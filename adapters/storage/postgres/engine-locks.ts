/**
 * The locks of engines: advisory locks that the session of the storage holds. The server releases
 * them when the process ends, since that closes its connections. It also releases them when only
 * the connection ends: by a restart of the server, a failover or an administrator. The engine then
 * lives and takes its lock again on its next connection.
 */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineLock, EngineLocks } from "../../../src/ports/index.ts";
import type { Connection } from "./connections/connection.ts";
import type { ConnectionPool } from "./connections/pool.ts";
import type { Session, SessionUser } from "./connections/session.ts";
import type { Statement } from "./connections/statement.ts";
import type { Names } from "./names.ts";

/**
 * Within this time, a living engine connects and takes its lock again, even after a restart of the
 * server, which frees all locks at once.
 */
export const graceMs = 1_000;
/**
 * How long a release waits for the server. A broken connection must not delay the engine's stop.
 */
const releaseMs = 1_000;
/** Ids are 32-bit integers, as half a key of an advisory lock. */
const idBound = 2 ** 31;

/** What a lock needs of the session that holds it. */
type LockSession = Pick<Session, "join" | "leave">;

/** Takes the locks of the engines of one storage on its session. */
export class AdvisoryLocks implements Omit<EngineLocks, "graceMs"> {
  readonly #pool: ConnectionPool;
  readonly #session: LockSession;
  readonly #names: Names;
  readonly #locks = new Set<AdvisoryLock>();

  constructor(pool: ConnectionPool, session: LockSession, names: Names) {
    this.#pool = pool;
    this.#session = session;
    this.#names = names;
  }

  /** If there is no connection now, the lock is taken as soon as there is one. */
  async take(): Promise<EngineLock> {
    const lock = new AdvisoryLock(this.#session, this.#names, () => this.#locks.delete(lock));
    this.#locks.add(lock);
    await this.#session.join(lock);
    return lock;
  }

  /**
   * Reads which locks are held, and takes none. If a lock was taken to test it, its engine could
   * not take it again at that moment.
   */
  async findFree(ids: readonly string[]): Promise<readonly string[]> {
    const { engineLocks } = this.#names;
    // The type of the keys in `pg_locks` is oid. `objsubid` is 2 for locks with two keys.
    const text =
      "SELECT id::text FROM unnest($1::integer[]) AS id WHERE NOT EXISTS (SELECT FROM pg_locks " +
      "WHERE locktype = 'advisory' AND objsubid = 2 AND objid = id::oid " +
      `AND classid = (${engineLocks})::oid ` +
      "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
    const [found] = await this.#pool.atomic([{ text, values: [`{${ids.join(",")}}`] }]);
    return (found?.rows ?? []).map(([id]) => String(id));
  }

  /** Releases all locks. */
  async close(): Promise<void> {
    await Promise.all([...this.#locks].map((lock) => lock.release()));
  }
}

class AdvisoryLock implements EngineLock, SessionUser {
  readonly id = String(randomInt(-idBound, idBound));
  readonly #session: LockSession;
  readonly #names: Names;
  readonly #released: () => void;
  /** The connection that holds the lock. */
  #holder: Connection | undefined;
  #isTaking = false;
  #isReleased = false;

  constructor(session: LockSession, names: Names, released: () => void) {
    this.#session = session;
    this.#names = names;
    this.#released = released;
  }

  isHeld(): boolean {
    return this.#holder !== undefined;
  }

  async release(): Promise<void> {
    const holder = this.#holder;
    this.#holder = undefined;
    this.#isReleased = true;
    this.#released();
    if (holder !== undefined) {
      // Others may need the connection, so it may stay open.
      const unlocked = holder.run([this.#statement("pg_advisory_unlock")]).catch(() => {});
      const settled = new AbortController();
      const late = sleep(releaseMs, undefined, { signal: settled.signal }).catch(() => {});
      await Promise.race([unlocked, late]);
      settled.abort();
    }
    this.#session.leave(this);
  }

  /**
   * Tries to take the lock. If the server has not noticed yet that the former connection broke,
   * that one still holds the lock. Leases then name no lock, and `keepAlive` tries again.
   */
  async begin(connection: Connection): Promise<void> {
    if (this.#isReleased) return;
    this.#isTaking = true;
    try {
      const [taken] = await connection.run([this.#statement("pg_try_advisory_lock")]);
      if (taken?.rows[0]?.[0] !== "true") return;
      this.#holder = connection;
    } finally {
      this.#isTaking = false;
    }
    // The engine stopped meanwhile.
    if (this.#isReleased) await this.release();
  }

  async keepAlive(connection: Connection): Promise<void> {
    // `begin` may still run. A connection that took the lock twice would keep it after the release.
    if (!this.isHeld() && !this.#isTaking) await this.begin(connection);
  }

  end(): void {
    this.#holder = undefined;
  }

  #statement(name: string): Statement {
    return {
      text: `SELECT ${name}(${this.#names.engineLocks}, $1::integer)::text`,
      values: [this.id],
    };
  }
}
