import { changesKey } from "../../accounts/index.ts";
import {
  EventFeed,
  eventsByPosition,
  LiveSignals,
  LogWatcher,
  type EventRow,
} from "../../events/index.ts";
import { scopeKey, TidingsError, type Scope, type WebchatSessionId } from "../../kernel/index.ts";
import type { Caller, Mailbox, OpenSources, StreamPlace } from "../../operations/index.ts";
import type { Clock, Logger, Write } from "../../ports/index.ts";
import { WakeFlag } from "../../queue/index.ts";
import type { Store } from "../../store/index.ts";
import { mailboxName, mailByPosition, type MailRow } from "../../webchat/index.ts";
import { SessionCheck } from "./session-check.ts";
import {
  changedContact,
  changedMailbox,
  contactName,
  removedSession,
  renamedScope,
} from "./stream-changes.ts";
import { StreamCounts } from "./stream-counts.ts";

/**
 * Open streams of one mailbox in this process, such as the tabs of one visitor. One more ends the
 * oldest, which may belong to a dead connection. Refusing the new one would not help: a refused
 * browser does not reconnect by itself.
 */
const maxPerMailbox = 5;
/** Ended streams of one mailbox that still wait for their reader. */
const maxEnding = 5;
/** Mailbox streams in this process. Each is an open socket of an anonymous visitor. */
const maxOfMailboxes = 10_000;

/** An open stream. */
interface Entry {
  readonly flag: WakeFlag;
  isOver: boolean;
}

/** An open stream of a mailbox. */
interface MailboxEntry extends Entry, Mailbox {
  readonly scope: Scope;
}

/** A stream that opens. */
interface Opening {
  readonly scope: Scope;
  readonly caller: Caller;
  /** Aborts when the reader has left. */
  readonly over: AbortSignal;
  /** Called when events are committed faster than the reader takes them. */
  readonly full?: () => void;
  /** The stream ends when it returns false. */
  readonly mayContinue?: (() => Promise<boolean>) | undefined;
}

/** The open streams of this process: counts them, wakes them, and ends them. */
export class LiveStreams {
  readonly #clock: Clock;
  readonly #events: EventFeed;
  readonly #mail: LogWatcher<MailRow>;
  /** Wakes the streams of visitors whose conversations have changed. */
  readonly #conversations: LogWatcher<EventRow>;
  readonly signals: LiveSignals;
  readonly #ofEvents = new Set<Entry>();
  readonly #counts = new StreamCounts();
  readonly #sessionCheck: SessionCheck;
  readonly #mailboxes = new Map<string, Set<MailboxEntry>>();
  #ofMailboxes = 0;
  #isClosed = false;

  constructor(options: { readonly store: Store; readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = options.clock;
    this.#events = new EventFeed(options);
    this.#mail = new LogWatcher<MailRow>({
      ...options,
      byPosition: mailByPosition,
      keyOf: mailboxName,
      scanned: () => this.#sessionCheck.request(),
    });
    this.#conversations = new LogWatcher<EventRow>({
      ...options,
      byPosition: eventsByPosition,
      keyOf: changedContact,
    });
    this.signals = new LiveSignals(options.clock);
    this.#sessionCheck = new SessionCheck({
      ...options,
      sessions: () => this.#openSessions(),
      ended: (ids) => this.#raiseMailboxes(({ session_id }) => ids.has(session_id)),
    });
  }

  /** Returns the functions through which a stream of the caller reads. */
  sources(opening: Opening): OpenSources {
    const { scope, over, full = () => {}, mayContinue = async () => true } = opening;
    return {
      over,
      join: (mailbox) => this.#join(opening, mailbox),
      subscribe: async (filter, wake) => {
        const subscription = await this.#events.subscribe(scope, filter, { wake, full });
        return { ...subscription, leave: leaveOnAbort(over, subscription.leave) };
      },
      listen: (filter, wake) => {
        const subscription = this.signals.subscribe(scope, filter, wake);
        return { ...subscription, leave: leaveOnAbort(over, subscription.leave) };
      },
      watchContact: async (contact_id, wake) => {
        const name = contactName({ ...scope, contact_id });
        return leaveOnAbort(over, await this.#conversations.join(name, wake));
      },
      // After `close`, new streams end at once too.
      mayContinue: async () => !this.#isClosed && mayContinue(),
    };
  }

  async #join(opening: Opening, mailbox?: Mailbox): Promise<StreamPlace> {
    const { over, scope } = opening;
    const flag = new WakeFlag(this.#clock);
    const entry: Entry = { flag, isOver: false };
    const leave =
      mailbox === undefined
        ? this.#joinEvents(entry, opening)
        : await this.#joinMailbox(Object.assign(entry, { ...mailbox, scope }));
    return {
      flag,
      isOver: () => entry.isOver,
      leave: leaveOnAbort(over, () => {
        flag.raise();
        leave();
      }),
    };
  }

  onWrites(writes: readonly Write[]): void {
    this.#events.onWrites(writes);
    this.#mail.onWrites(writes);
    this.#conversations.onWrites(writes);
    if (this.#ofEvents.size > 0 && writes.some(changesKey)) {
      for (const { flag } of this.#ofEvents) flag.raise();
    }
    if (this.#ofMailboxes === 0) return;
    const ended = new Set(writes.flatMap(removedSession));
    if (ended.size > 0) this.#raiseMailboxes(({ session_id }) => ended.has(session_id));
    // No event tells of a merge, or of a new name of a person or agent. Streams in other processes
    // show it with their next message or change.
    const changed = new Set(writes.flatMap(changedMailbox));
    if (changed.size > 0) this.#raiseMailboxes(({ name }) => changed.has(name));
    const renaming = new Set(writes.flatMap(renamedScope));
    if (renaming.size > 0) this.#raiseMailboxes(({ scope }) => renaming.has(scopeKey(scope)));
  }

  /** Call this when another process may have committed. */
  wake(): void {
    this.#events.wake();
    this.#mail.wake();
    this.#conversations.wake();
  }

  /** Ends all streams. */
  close(): void {
    this.#isClosed = true;
    for (const { flag } of this.#ofEvents) flag.raise();
    this.#raiseMailboxes();
    this.#events.close();
    this.#mail.close();
    this.#conversations.close();
    this.signals.disconnect();
    this.#sessionCheck.close();
  }

  *#openSessions(): Generator<{ readonly scope: Scope; readonly id: WebchatSessionId }> {
    for (const entries of this.#mailboxes.values()) {
      for (const { scope, session_id } of entries) yield { scope, id: session_id };
    }
  }

  #raiseMailboxes(isWanted: (entry: MailboxEntry) => boolean = () => true): void {
    for (const entries of this.#mailboxes.values()) {
      for (const entry of entries) if (isWanted(entry)) entry.flag.raise();
    }
  }

  /** Returns a function that unsubscribes. */
  #joinEvents(entry: Entry, { scope, caller }: Opening): () => void {
    const uncount = this.#counts.add(caller, scope);
    this.#ofEvents.add(entry);
    return () => {
      if (this.#ofEvents.delete(entry)) uncount();
    };
  }

  async #joinMailbox(entry: MailboxEntry): Promise<() => void> {
    const { name } = entry;
    const others = this.#mailboxes.get(name) ?? new Set();
    if (this.#ofMailboxes >= maxOfMailboxes) {
      throw new TidingsError("overloaded", "Too many visitors are connected. Try again later.");
    }
    if (others.size >= maxPerMailbox + maxEnding) {
      throw new TidingsError(
        "overloaded",
        "Too many streams of this visitor are open. Close some and try again.",
      );
    }
    const open = [...others].filter(({ isOver }) => !isOver);
    const [oldest] = open;
    if (oldest !== undefined && open.length >= maxPerMailbox) {
      oldest.isOver = true;
      oldest.flag.raise();
    }
    this.#mailboxes.set(name, others.add(entry));
    this.#ofMailboxes++;
    const remove = (): void => {
      if (!others.delete(entry)) return;
      this.#ofMailboxes--;
      if (others.size === 0 && this.#mailboxes.get(name) === others) this.#mailboxes.delete(name);
    };
    try {
      const unwatch = await this.#mail.join(name, () => entry.flag.raise());
      return () => {
        remove();
        unwatch();
      };
    } catch (error) {
      remove();
      throw error;
    }
  }
}

/**
 * Calls `leave` when `over` aborts, since a stream that nobody reads any more does not leave by
 * itself. Returns a function for a stream that leaves by itself. `leave` may be called more than
 * once.
 */
function leaveOnAbort(over: AbortSignal, leave: () => void): () => void {
  if (over.aborted) leave();
  else over.addEventListener("abort", leave, { once: true });
  return () => {
    over.removeEventListener("abort", leave);
    leave();
  };
}
