import { events } from "../events/index.ts";
import { keys } from "../accounts/index.ts";
import { mail, mailboxName, type MailRow, webchatSessions } from "../webchat/index.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Notifications } from "../operations/index.ts";
import type { Clock, Write } from "../ports/index.ts";
import { Signal } from "../queue/index.ts";

/**
 * Open streams of one mailbox in this process, such as the tabs of one visitor. One more ends the
 * oldest, which may belong to a dead connection. Refusing the new one would not help: a refused
 * browser does not reconnect by itself.
 */
const maxStreamsPerMailbox = 5;
/** Ended streams of one mailbox that still wait for their reader. */
const maxEnding = 5;
/** Mailbox streams in this process. Each is an open socket of an anonymous visitor. */
const maxMailboxStreams = 10_000;
/**
 * The minimum time between mailbox checks caused by commits of other processes, in milliseconds.
 * Most such commits contain no mail.
 */
const recheckMs = 200;

/** A stream that waits for mail. */
interface Reader {
  readonly signal: Signal;
  isOver: boolean;
}

/** Wakes waiting streams when events or mail are committed, or when they must end. */
export class StreamNotifier {
  readonly #clock: Clock;
  readonly #waiting = new Set<Signal>();
  readonly #mailboxes = new Map<string, Set<Reader>>();
  #ofMailboxes = 0;
  #isRecheckPending = false;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True after `close`. Open streams end, and new ones end at once. */
  get closed(): boolean {
    return this.#closed;
  }

  /** @throws TidingsError `overloaded` when the process, or the mailbox, has too many streams */
  open(over: AbortSignal, mailbox?: string): Notifications {
    const signal = new Signal(this.#clock);
    const raise = (): void => signal.raise();
    const reader: Reader = { signal, isOver: false };
    const leave =
      mailbox === undefined ? this.#joinEvents(signal) : this.#joinMailbox(reader, mailbox);
    const gone = (): void => {
      raise();
      // A stream that was never read would not call `leave` itself.
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

  onWrites(writes: readonly Write[]): void {
    if (
      this.#waiting.size > 0 &&
      writes.some(({ collection }) => collection === events || collection === keys)
    ) {
      this.#raiseEvents();
    }
    if (this.#ofMailboxes === 0) return;
    // A removal does not name the mailbox, so wake all. Expired sessions are removed in batches.
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

  /** Wakes streams because another process may have committed events or mail. */
  raise(): void {
    this.#raiseEvents();
    if (this.#ofMailboxes === 0 || this.#isRecheckPending) return;
    this.#isRecheckPending = true;
    void this.#clock.sleep(recheckMs).then(() => {
      this.#isRecheckPending = false;
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

  /** Returns a function that unsubscribes. */
  #joinEvents(signal: Signal): () => void {
    this.#waiting.add(signal);
    return () => this.#waiting.delete(signal);
  }

  #joinMailbox(reader: Reader, mailbox: string): () => void {
    const waiting = this.#mailboxes.get(mailbox) ?? new Set();
    if (this.#ofMailboxes >= maxMailboxStreams) {
      throw new TidingsError("overloaded", "Too many visitors are connected. Try again later.");
    }
    if (waiting.size >= maxStreamsPerMailbox + maxEnding) {
      throw new TidingsError(
        "overloaded",
        "Too many streams of this visitor are open. Close some and try again.",
      );
    }
    const open = [...waiting].filter(({ isOver }) => !isOver);
    const [oldest] = open;
    if (oldest !== undefined && open.length >= maxStreamsPerMailbox) {
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
