import { events } from "../domain/events/rows.ts";
import { keys } from "../domain/keys/rows.ts";
import { mail, mailboxName, type MailRow, webchatSessions } from "../domain/webchat/rows.ts";
import { TidingsError } from "../errors.ts";
import type { News } from "../operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Write } from "../ports/storage.ts";
import { Signal } from "../signal.ts";

/** Streams of one mailbox in this process: the tabs of one visitor. */
const mostOfMailbox = 5;
/** Streams of mailboxes in this process. Each is an open socket of somebody who is no customer of the host's yet. */
const mostOfMailboxes = 10_000;
/** How often mailboxes are looked into, at most, because another process has committed something: mostly it was not for them. */
const rumourMs = 200;

/** Wakes the streams that wait: for events, for mail, and to find that they are over. */
export class NewsDesk {
  readonly #clock: Clock;
  readonly #waiting = new Set<Signal>();
  readonly #mailboxes = new Map<string, Set<Signal>>();
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

  /** @throws TidingsError `overloaded` when too many wait for mail already */
  open(over: AbortSignal, mailbox?: string): News {
    const signal = new Signal(this.#clock);
    const raise = (): void => signal.raise();
    const leave = mailbox === undefined ? this.#joinEvents(signal) : this.#joinMailbox(signal, mailbox);
    const gone = (): void => {
      raise();
      // A stream that nobody began to read is not told that it is over.
      leave();
    };
    if (over.aborted) gone();
    else over.addEventListener("abort", gone, { once: true });
    return {
      signal,
      leave: () => {
        leave();
        over.removeEventListener("abort", gone);
      },
    };
  }

  heed(writes: readonly Write[]): void {
    if (this.#waiting.size > 0 && writes.some(({ collection }) => collection === events || collection === keys)) {
      this.#raiseEvents();
    }
    if (this.#ofMailboxes === 0) return;
    for (const write of writes) {
      if (write.collection === webchatSessions && write.kind === "remove") this.#raiseMailboxes();
      if (write.collection !== mail || write.kind !== "insert") continue;
      const waiting = this.#mailboxes.get(mailboxName(write.row as unknown as MailRow)) ?? [];
      for (const signal of waiting) signal.raise();
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
    for (const waiting of this.#mailboxes.values()) for (const signal of waiting) signal.raise();
  }

  /** Answers how to leave. */
  #joinEvents(signal: Signal): () => void {
    this.#waiting.add(signal);
    return () => this.#waiting.delete(signal);
  }

  #joinMailbox(signal: Signal, mailbox: string): () => void {
    const waiting = this.#mailboxes.get(mailbox) ?? new Set();
    if (waiting.size >= mostOfMailbox) {
      throw new TidingsError("overloaded", "Too many streams of this visitor are open.");
    }
    if (this.#ofMailboxes >= mostOfMailboxes) throw new TidingsError("overloaded", "Too many visitors are connected.");
    this.#mailboxes.set(mailbox, waiting.add(signal));
    this.#ofMailboxes++;
    return () => {
      if (!waiting.delete(signal)) return;
      this.#ofMailboxes--;
      if (waiting.size === 0) this.#mailboxes.delete(mailbox);
    };
  }
}
