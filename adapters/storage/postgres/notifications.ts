/**
 * Notifies processes of each other's commits, with LISTEN and NOTIFY. NOTIFY makes the transactions
 * of the whole server commit one at a time, so it is not part of a group's commit. A small separate
 * transaction announces all commits since the last one. If a process or a connection fails,
 * notifications are lost; polling then finds the changes.
 */
import { randomUUID } from "node:crypto";
import type { Statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { pause, type Session } from "./session.ts";
import { literal, type Names, quoted } from "./tables.ts";
import type { ConnectionPool } from "./pool.ts";

/** The least time between two notifications. The first one is sent at once. */
const minIntervalMs = 20;

/** Sends and receives notifications of commits. */
export class Notifications {
  readonly #pool: ConnectionPool;
  readonly #session: Session;
  readonly #channel: string;
  /** The payload of this process's notifications, to recognise and ignore them. */
  readonly #id = randomUUID();
  readonly #listeners = new Set<() => void>();
  readonly #listening = { begin: (connection: Connection) => this.#listen(connection) };
  readonly #closing = new AbortController();
  #notifying: Promise<void> | undefined;
  #isPending = false;

  constructor(pool: ConnectionPool, session: Session, { channel }: Names) {
    this.#pool = pool;
    this.#session = session;
    this.#channel = channel;
  }

  /**
   * A notification for a transaction of the host application. It is sent when that transaction
   * commits. This process does not know when that is, so the notification is for this process too.
   */
  get hostNotification(): Statement {
    return notification(this.#channel, "host");
  }

  watch(listener: () => void): () => void {
    // Wrapped, so that one function can be registered twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    void this.#session.join(this.#listening);
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#session.leave(this.#listening);
    };
  }

  /** Notifies other processes of a commit, soon. */
  notify(): void {
    this.#isPending = true;
    this.#notifying ??= this.#notify().finally(() => {
      this.#notifying = undefined;
    });
  }

  /** Sends a pending notification first. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#session.leave(this.#listening);
    this.#closing.abort();
    await this.#notifying;
  }

  async #notify(): Promise<void> {
    while (this.#isPending) {
      this.#isPending = false;
      const asynchronousCommit = {
        text: "SELECT set_config('synchronous_commit', 'off', true)",
        values: [],
      };
      await this.#pool
        .atomic([asynchronousCommit, notification(this.#channel, this.#id)])
        .catch(() => {});
      await pause(minIntervalMs, this.#closing.signal);
    }
  }

  async #listen(connection: Connection): Promise<void> {
    connection.on("notification", (message) => {
      if (isOnChannel(this.#channel, message) && message.payload !== this.#id) {
        this.#callListeners();
      }
    });
    await connection.run([{ text: `LISTEN ${quoted(this.#channel)}`, values: [] }]);
    // Earlier notifications were missed.
    this.#callListeners();
  }

  #callListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}

function notification(channel: string, payload: string): Statement {
  return { text: `SELECT pg_notify(${literal(channel)}, $1::text)::text`, values: [payload] };
}

function isOnChannel(channel: string, message: unknown): message is { readonly payload: unknown } {
  if (typeof message !== "object" || message === null) return false;
  return "channel" in message && message.channel === channel && "payload" in message;
}
