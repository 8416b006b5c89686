/**
 * How processes hear of each other's commits: LISTEN and NOTIFY. NOTIFY makes transactions of the whole server commit one by one, so a
 * group's commit doesn't carry it: a small transaction tells of all commits since the last one. What gets lost with a process or a
 * connection is found by whoever polls.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connections, Taken } from "./connections.ts";
import { literal, type Names, quoted } from "./names.ts";
import type { Statement } from "./session/batch.ts";

/** At most one notification in so many milliseconds; the first of them goes at once. */
const spacingMs = 20;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** A line that went dead without a word is found out by asking. */
const askMs = 30_000;

export class WakeUps {
  readonly #connections: Connections;
  readonly #channel: string;
  /** Tells one's own notifications from others'. */
  readonly #id = randomUUID();
  readonly #listeners = new Set<() => void>();
  #stopListening: (() => void) | undefined;
  readonly #closing = new AbortController();
  #telling: Promise<void> | undefined;
  #again = false;

  constructor(connections: Connections, { channel }: Names) {
    this.#connections = connections;
    this.#channel = channel;
  }

  /** In a host's transaction: goes out when that commits, which nobody here is told of, so it is for everybody. */
  get hostNotice(): Statement {
    return notification(this.#channel, "host");
  }

  watch(listener: () => void): () => void {
    // One of its own, also where the same function watches twice.
    const own = (): void => listener();
    this.#listeners.add(own);
    this.#stopListening ??= this.#listen();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
    };
  }

  /** Tells the others of a commit, soon. */
  notify(): void {
    this.#again = true;
    this.#telling ??= this.#notify().finally(() => {
      this.#telling = undefined;
    });
  }

  /** What is still to be told is told first. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#stopListening?.();
    this.#closing.abort();
    await this.#telling;
  }

  async #notify(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const unhurried = {
        text: "SELECT set_config('synchronous_commit', 'off', true)",
        values: [],
      };
      await this.#connections
        .atomic([unhurried, notification(this.#channel, this.#id)])
        .catch(() => {});
      await pause(spacingMs, this.#closing.signal);
    }
  }

  #listen(): () => void {
    const stop = new AbortController();
    void this.#keepListening(stop.signal);
    return () => stop.abort();
  }

  async #keepListening(signal: AbortSignal): Promise<void> {
    for (let wait = firstPauseMs; !signal.aborted; wait = Math.min(2 * wait, longestPauseMs)) {
      await this.#connections
        .take()
        .then((taken) => this.#hear(taken, signal, () => (wait = firstPauseMs)))
        .catch(() => {});
      await pause(wait, signal);
    }
  }

  /** Listens on one connection for as long as it lasts. */
  async #hear(
    { connection, release }: Taken,
    signal: AbortSignal,
    listening: () => void,
  ): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener("abort", end);
    connection.on("error", end);
    connection.on("end", end);
    connection.on("notification", (message) => {
      if (isOf(this.#channel, message) && message.payload !== this.#id) this.#tell();
    });
    try {
      await connection.run([{ text: `LISTEN ${quoted(this.#channel)}`, values: [] }]);
      listening();
      // What was said before anybody listened was not heard.
      this.#tell();
      while (!signal.aborted && !over.signal.aborted) {
        await pause(askMs, over.signal);
        if (!over.signal.aborted) await connection.run([{ text: "SELECT 1", values: [] }]);
      }
    } finally {
      signal.removeEventListener("abort", end);
      // A connection that listens is of no use to others.
      connection.lose();
      release();
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function notification(channel: string, payload: string): Statement {
  return { text: `SELECT pg_notify(${literal(channel)}, $1::text)::text`, values: [payload] };
}

function isOf(channel: string, message: unknown): message is { readonly payload: unknown } {
  if (typeof message !== "object" || message === null) return false;
  return "channel" in message && message.channel === channel && "payload" in message;
}

/** Holds no process that has nothing else to do. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
}
