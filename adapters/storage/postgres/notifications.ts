/**
 * Notifies processes of each other's commits, and carries their signals, with LISTEN and NOTIFY.
 * NOTIFY makes the transactions of the whole server commit one at a time, so it is not part of a
 * group's commit. A small separate transaction announces all commits since the last one, and sends
 * the signals since then. If a process or a connection fails, notifications are lost; polling then
 * finds the changes.
 */
import { randomUUID } from "node:crypto";
import type { SignalLine } from "../../../src/ports/index.ts";
import { CommitListeners } from "../commit-listeners.ts";
import { literal, quoted } from "../sql.ts";
import { Throttle } from "../throttle.ts";
import type { Connection } from "./connections/connection.ts";
import type { ConnectionPool } from "./connections/pool.ts";
import type { Session } from "./connections/session.ts";
import type { Statement } from "./connections/statement.ts";
import type { Names } from "./names.ts";

/** Signals that may wait for the next notification. Later ones are dropped. */
const maxSignals = 100;
/** Begins the payload of a signal. The sender's id and the text follow. */
const signalMark = "signal ";

/** Sends and receives notifications of commits, and signals. */
export class Notifications {
  readonly #pool: ConnectionPool;
  readonly #session: Session;
  readonly #channel: string;
  /** The payload of this process's notifications, to recognize and ignore them. */
  readonly #id = randomUUID();
  /** The listeners for commits. */
  readonly #listeners = new CommitListeners();
  /** The listeners for signals, one for each engine. */
  readonly #members = new Set<(text: string) => void>();
  /** The texts that wait for the next notification. */
  #signals: string[] = [];
  readonly #sessionUser = { begin: (connection: Connection) => this.#listen(connection) };
  /** The last connection that LISTEN ran on. Locks may keep it, and this may join it again. */
  #listensOn: Connection | undefined;
  /** Notifies the other processes. */
  readonly #sending = new Throttle(() => this.#send());
  /**
   * Tells the engines of this process about commits. It is throttled, because each engine then
   * reads from the storage, and every other process may notify it 50 times a second.
   */
  readonly #telling = new Throttle(() => this.#listeners.callSoon());
  /** Whether a commit has not been announced yet. */
  #hasCommitted = false;

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
    const stop = this.#listeners.add(listener);
    void this.#session.join(this.#sessionUser);
    return () => {
      stop();
      this.#leave();
    };
  }

  /** Connects an engine to the others, of this process too. */
  join(listener: (text: string) => void): SignalLine {
    const own = (text: string): void => listener(text);
    this.#members.add(own);
    void this.#session.join(this.#sessionUser);
    return {
      send: (text) => {
        if (!this.#members.has(own) || this.#signals.length >= maxSignals) return;
        for (const member of this.#members) if (member !== own) member(text);
        this.#signals.push(text);
        this.#sending.request();
      },
      leave: () => {
        this.#members.delete(own);
        this.#leave();
      },
    };
  }

  /**
   * Notifies other processes of a commit, soon. If several engines share this storage object, it
   * tells them too: each ignores the notifications of its own process.
   */
  announceCommit(isShared: boolean): void {
    if (isShared) this.#telling.request();
    this.#hasCommitted = true;
    this.#sending.request();
  }

  #leave(): void {
    if (this.#listeners.isEmpty && this.#members.size === 0) this.#session.leave(this.#sessionUser);
  }

  /** Sends a pending notification first. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#members.clear();
    this.#session.leave(this.#sessionUser);
    await Promise.all([this.#telling.close(), this.#sending.close()]);
  }

  async #send(): Promise<void> {
    const payloads = [
      ...(this.#hasCommitted ? [this.#id] : []),
      ...this.#signals.map((text) => `${signalMark}${this.#id} ${text}`),
    ];
    this.#hasCommitted = false;
    this.#signals = [];
    const asynchronousCommit = {
      text: "SELECT set_config('synchronous_commit', 'off', true)",
      values: [],
    };
    await this.#pool
      .atomic([asynchronousCommit, ...payloads.map((each) => notification(this.#channel, each))])
      .catch(() => {});
  }

  async #listen(connection: Connection): Promise<void> {
    if (this.#listensOn === connection) return;
    this.#listensOn = connection;
    connection.on("notification", (message) => {
      if (isOnChannel(this.#channel, message)) this.#receive(message.payload);
    });
    await connection.run([{ text: `LISTEN ${quoted(this.#channel)}`, values: [] }]);
    // Earlier notifications were missed.
    this.#listeners.callSoon();
  }

  #receive(payload: string): void {
    if (!payload.startsWith(signalMark)) {
      if (payload !== this.#id) this.#telling.request();
      return;
    }
    const sender = payload.slice(signalMark.length, signalMark.length + this.#id.length);
    if (sender === this.#id) return;
    const text = payload.slice(signalMark.length + this.#id.length + 1);
    for (const member of this.#members) member(text);
  }
}

function notification(channel: string, payload: string): Statement {
  return { text: `SELECT pg_notify(${literal(channel)}, $1::text)::text`, values: [payload] };
}

function isOnChannel(channel: string, message: unknown): message is { readonly payload: string } {
  if (typeof message !== "object" || message === null) return false;
  const { channel: on, payload }: { channel?: unknown; payload?: unknown } = message;
  return on === channel && typeof payload === "string";
}
