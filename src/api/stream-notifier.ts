import { events } from "../events/index.ts";
import { keys } from "../accounts/index.ts";
import { mail, mailboxName, type MailRow, webchatSessions } from "../webchat/index.ts";
import { TidingsError } from "../kernel/index.ts";
import type { News } from "../operations/index.ts";
import type { Clock, Write } from "../ports/index.ts";
import { Signal } from "../queue/index.ts";

/**
 * Streams of one mailbox in this process: the tabs of one visitor. One more ends the oldest, which may be of a connection that has died
 * unnoticed; a browser that is refused would not come again by itself.
 */
const mostOfMailbox = 5;
/** Of those that are to end, so many may be waiting to be read to their end. */
const mostLeaving = 5;
/** Streams of mailboxes in this process. Each is an open socket of somebody who is no customer of the host's yet. */
const mostOfMailboxes = 10_000;
/** How often mailboxes are looked into, at most, because another process has committed something: mostly it was not for them. */
const rumourMs = 200;

/** A stream that waits for mail. */
interface Reader {
  readonly signal: Signal;
  isOver: boolean;
}

/** Wakes the streams that wait: for events, for mail, and to find that they are over. */
export class NewsDesk {
  readonly #clock: Clock;
  readonly #waiting = new Set<Signal>();
  readonly #mailboxes = new Map<string, Set<Reader>>();
  #ofMailboxes = 0;
  #isRumoured = false;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Streams that were open end, and those that come end at once. */
  get closed(): boolean {
    return this.#closed;
  }

  /** @throws TidingsError `overloaded` when too many wait for mail already, or too many of the mailbox's can't be brought to their end */
  open(over: AbortSignal, mailbox?: string): News {
    const signal = new Signal(this.#clock);
    const raise = (): void => signal.raise();
    const reader: Reader = { signal, isOver: false };
    const leave =
      mailbox === undefined ? this.#joinEvents(signal) : this.#joinMailbox(reader, mailbox);
    const gone = (): void => {
      raise();
      // A stream that nobody began to read is not told that it is over.
      leave();
    };
    if (over.aborted) gone();
    else over.addEventListener("abort", gone, { once: true });
    return {
      signal,
      isOver: () => reader.isOver,
      leave: () => {
        leave();
        over.removeEventListener("abort", gone);
      },
    };
  }

  heed(writes: readonly Write[]): void {
    if (
      this.#waiting.size > 0 &&
      writes.some(({ collection }) => collection === events || collection === keys)
    ) {
      this.#raiseEvents();
    }
    if (this.#ofMailboxes === 0) return;
    // A session that is gone doesn't say whose it was. Many go at once when they have expired.
    if (
      writes.some(({ collection, kind }) => collection === webchatSessions && kind === "remove")
    ) {
      this.#raiseMailboxes();
    }
    for (const write of writes) {
      if (write.collection !== mail || write.kind !== "insert") continue;
      const waiting = this.#mailboxes.get(mailboxName(write.row as unknown as MailRow)) ?? [];
      for (const { signal } of waiting) signal.raise();
    }
  }

  /** Another process may have committed events and mail. */
  raise(): void {
    this.#raiseEvents();
    if (this.#ofMailboxes === 0 || this.#isRumoured) return;
    this.#isRumoured = true;
    void this.#clock.sleep(rumourMs).then(() => {
      this.#isRumoured = false;
      this.#raiseMailboxes();
    });
  }

  close(): void {
    this.#closed = true;
    this.#raiseEvents();
    this.#raiseMailboxes();
  }

  #raiseEvents(): void {
    for (const signal of this.#waiting) signal.raise();
  }

  #raiseMailboxes(): void {
    for (const waiting of this.#mailboxes.values()) {
      for (const { signal } of waiting) signal.raise();
    }
  }

  /** Answers how to leave. */
  #joinEvents(signal: Signal): () => void {
    this.#waiting.add(signal);
    return () => this.#waiting.delete(signal);
  }

  #joinMailbox(reader: Reader, mailbox: string): () => void {
    const waiting = this.#mailboxes.get(mailbox) ?? new Set();
    if (this.#ofMailboxes >= mostOfMailboxes) {
      throw new TidingsError("overloaded", "Too many visitors are connected.");
    }
    if (waiting.size >= mostOfMailbox + mostLeaving) {
      throw new TidingsError("overloaded", "Too many streams of this visitor are open.");
    }
    const open = [...waiting].filter(({ isOver }) => !isOver);
    const [oldest] = open;
    if (oldest !== undefined && open.length >= mostOfMailbox) {
      oldest.isOver = true;
      oldest.signal.raise();
    }
    this.#mailboxes.set(mailbox, waiting.add(reader));
    this.#ofMailboxes++;
    return () => {
      if (!waiting.delete(reader)) return;
      this.#ofMailboxes--;
      if (waiting.size === 0) this.#mailboxes.delete(mailbox);
    };
  }
}
