/**
 * Notifies processes of each other's commits, and carries their signals, with LISTEN and NOTIFY.
 * NOTIFY makes the transactions of the whole server commit one at a time, so it is not part of a
 * group's commit. A small separate transaction announces all commits since the last one, and sends
 * the signals since then. If a process or a connection fails, notifications are lost; polling then
 * finds the changes.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pRetry from "p-retry";
import type { SignalLine } from "../../../src/ports/index.ts";
import type { Statement } from "./batch.ts";
import { literal, type Names, quoted } from "./tables.ts";
import type { ConnectionPool, PooledConnection } from "./pool.ts";

/** The least time between two notifications. The first one is sent at once. */
const minIntervalMs = 20;
/** The pauses before a new connection is tried: the first, and the longest after failures. */
const firstPauseMs = 100;
const maxPauseMs = 5_000;
/** How often to query the server, to detect a connection that broke silently. */
const keepAliveMs = 30_000;
/** Signals that may wait for the next notification. Later ones are dropped. */
const maxSignals = 100;
/** Begins the payload of a signal. The sender's id and the text follow. */
const signalMark = "signal ";

/** Sends and receives notifications of commits, and signals. */
export class Notifications {
  readonly #pool: ConnectionPool;
  readonly #channel: string;
  /** The payload of this process's notifications, to recognise and ignore them. */
  readonly #id = randomUUID();
  readonly #listeners = new Set<() => void>();
  readonly #members = new Set<(text: string) => void>();
  /** The texts that wait for the next notification. */
  #signals: string[] = [];
  #stopListening: (() => void) | undefined;
  readonly #closing = new AbortController();
  #notifying: Promise<void> | undefined;
  #isPending = false;

  constructor(pool: ConnectionPool, { channel }: Names) {
    this.#pool = pool;
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
    this.#stopListening ??= this.#listen();
    return () => {
      this.#listeners.delete(own);
      this.#leave();
    };
  }

  /** Connects an engine to the others, of this process too. */
  join(listener: (text: string) => void): SignalLine {
    const own = (text: string): void => listener(text);
    this.#members.add(own);
    this.#stopListening ??= this.#listen();
    return {
      send: (text) => {
        if (!this.#members.has(own) || this.#signals.length >= maxSignals) return;
        for (const member of this.#members) if (member !== own) member(text);
        this.#signals.push(text);
        this.#notifySoon();
      },
      leave: () => {
        this.#members.delete(own);
        this.#leave();
      },
    };
  }

  /** Notifies other processes of a commit, soon. */
  notify(): void {
    this.#isPending = true;
    this.#notifySoon();
  }

  #leave(): void {
    if (this.#listeners.size + this.#members.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #notifySoon(): void {
    this.#notifying ??= this.#notify().finally(() => {
      this.#notifying = undefined;
    });
  }

  /** Sends a pending notification first. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#members.clear();
    this.#stopListening?.();
    this.#closing.abort();
    await this.#notifying;
  }

  async #notify(): Promise<void> {
    while (this.#isPending || this.#signals.length > 0) {
      const payloads = [
        ...(this.#isPending ? [this.#id] : []),
        ...this.#signals.map((text) => `${signalMark}${this.#id} ${text}`),
      ];
      this.#isPending = false;
      this.#signals = [];
      const asynchronousCommit = {
        text: "SELECT set_config('synchronous_commit', 'off', true)",
        values: [],
      };
      await this.#pool
        .atomic([asynchronousCommit, ...payloads.map((each) => notification(this.#channel, each))])
        .catch(() => {});
      await pause(minIntervalMs, this.#closing.signal);
    }
  }

  #listen(): () => void {
    const stop = new AbortController();
    void this.#keepListening(stop.signal);
    return () => stop.abort();
  }

  async #keepListening(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pRetry(async () => this.#receive(await this.#pool.take(), signal), {
        retries: Infinity,
        minTimeout: firstPauseMs,
        maxTimeout: maxPauseMs,
        unref: true,
        signal,
      }).catch(() => {});
      await pause(firstPauseMs, signal);
    }
  }

  /** Listens on one connection until it ends. Rejects if it cannot listen. */
  async #receive({ connection, release }: PooledConnection, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener("abort", end);
    connection.on("error", end);
    connection.on("end", end);
    connection.on("notification", (message) => {
      if (isOnChannel(this.#channel, message)) this.#take(message.payload);
    });
    try {
      await connection.run([{ text: `LISTEN ${quoted(this.#channel)}`, values: [] }]);
      // Earlier notifications were missed.
      this.#callListeners();
      while (!signal.aborted && !ended.signal.aborted) {
        await pause(keepAliveMs, ended.signal);
        if (ended.signal.aborted) break;
        await connection.run([{ text: "SELECT 1", values: [] }]).catch(end);
      }
    } finally {
      signal.removeEventListener("abort", end);
      // A listening connection must not go back to the pool.
      connection.lose();
      release();
    }
  }

  #take(payload: string): void {
    if (!payload.startsWith(signalMark)) {
      if (payload !== this.#id) this.#callListeners();
      return;
    }
    const sender = payload.slice(signalMark.length, signalMark.length + this.#id.length);
    if (sender === this.#id) return;
    const text = payload.slice(signalMark.length + this.#id.length + 1);
    for (const member of this.#members) member(text);
  }

  #callListeners(): void {
    for (const listener of this.#listeners) listener();
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

/** Waits, without keeping the process alive. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
}
