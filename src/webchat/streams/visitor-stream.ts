import { identityByAddress } from "../../contacts/index.ts";
import { follow, type StreamBatch } from "../../events/index.ts";
import { withId, type ById, type ContactId } from "../../kernel/index.ts";
import { messageById, messageResource } from "../../messages/index.ts";
import type {
  EventStream,
  SignalSubscription,
  StreamItem,
  StreamPlace,
  StreamSources,
  TransientItem,
  TypingSignal,
} from "../../operations/index.ts";
import type { Reads } from "../../store/index.ts";
import {
  mailboxByAddress,
  mailboxName,
  mailByNumber,
  webchatSessionById,
  type MailRow,
  type WebchatSessionRow,
} from "../rows.ts";
import { findSession } from "../sessions/sessions.ts";
import { webchatMessage } from "../show.ts";
import { visitorStreamSchema, type VisitorStream, type WebchatMessage } from "../types.ts";
import { markWebchatMail } from "../visitor-messages.ts";
import { readNames, readState } from "./conversation-state.ts";

/** Entries per read. */
const pageSize = 100;
/** The browser's reconnection delay, in milliseconds. */
const retryMs = 2_000;

/**
 * Streams a mailbox's messages in order, each with its number as the event id. A browser that
 * reconnects to any process continues after its last number. Between the messages it sends the
 * state of the conversation and who is typing. Ends with the session.
 */
export const webchatStream: EventStream<VisitorStream & ById, WebchatMessage> = {
  kind: "stream",
  name: "webchat.stream",
  input: () => withId(visitorStreamSchema, "The id of the session."),
  before: markWebchatMail,
  async open(sources, { id, last_event_id }) {
    const { reads, now } = sources;
    const session = await findSession(reads, id, now());
    const after =
      last_event_id === undefined
        ? session.begins_after
        : await existingNumber(reads, session, Number(last_event_id));
    const place = await sources.join({ name: mailboxName(session), session_id: session.id });
    const reader = new VisitorReader(sources, session, place, after);
    return follow({
      ...sources,
      place,
      next: () => reader.next(),
      close: () => reader.close(),
      endsAt: session.expires_at,
    });
  },
};

/**
 * Returns the browser's last number, or that of the mailbox if it is lower, as after a backup was
 * restored. The next messages get the numbers in between, and the browser does not have them.
 */
async function existingNumber(
  reads: Reads,
  { address }: WebchatSessionRow,
  number: number,
): Promise<number> {
  const mailbox = await reads.get(mailboxByAddress, [address]);
  return Math.min(number, mailbox?.last_number ?? 0);
}

/** A contact whose conversations are watched. */
interface Watched {
  readonly contact_id: ContactId;
  readonly signals: SignalSubscription;
  readonly unwatch: () => void;
}

/** Returns what a visitor's stream shows. */
class VisitorReader {
  readonly #sources: StreamSources;
  readonly #session: WebchatSessionRow;
  readonly #wake: () => void;
  /** The number of the last message that was read. */
  #after: number;
  #isFirst = true;
  /** The visitor's contact. A merge replaces it. */
  #watched: Watched | undefined;
  /** The state that was sent last, as JSON. */
  #lastState: string | undefined;

  constructor(
    sources: StreamSources,
    session: WebchatSessionRow,
    { flag }: StreamPlace,
    after: number,
  ) {
    this.#sources = sources;
    this.#session = session;
    this.#wake = () => flag.raise();
    this.#after = after;
  }

  /** Returns the next events, or undefined if the session has ended. */
  async next(): Promise<StreamBatch<WebchatMessage> | undefined> {
    const { reads, now } = this.#sources;
    const latest = await reads.get(webchatSessionById, [this.#session.id]);
    if (latest === undefined || latest.expires_at <= now()) return undefined;
    const state = await this.#changedState();
    const entries = await entriesAfter(reads, this.#session, this.#after);
    this.#after = entries.at(-1)?.number ?? this.#after;
    const messages = await messagesOf(reads, entries);
    // The first event shows the browser that it is connected, and sets its reconnection delay.
    const greeting = this.#isFirst ? [{ retry: retryMs }] : [];
    this.#isFirst = false;
    // A message ends its author's typing, so it comes after.
    const typing = this.#watched?.signals.take().map(typingItem) ?? [];
    const events = [...greeting, ...state, ...typing, ...messages];
    return { events, more: entries.length === pageSize };
  }

  close(): void {
    this.#watched?.signals.leave();
    this.#watched?.unwatch();
    this.#watched = undefined;
  }

  /** Returns the state of the conversation, unless it was sent already. */
  async #changedState(): Promise<TransientItem[]> {
    const { reads } = this.#sources;
    const identity = await reads.get(identityByAddress, ["webchat", this.#session.address]);
    // The contact is being erased, which ends the session.
    if (identity === undefined) return [];
    const { contact_id } = identity;
    if (this.#watched?.contact_id !== contact_id) await this.#watch(contact_id);
    const state = await readState(reads, contact_id);
    const text = JSON.stringify(state);
    if (text === this.#lastState) return [];
    this.#lastState = text;
    return [{ event: "state", transient: state }];
  }

  async #watch(contact_id: ContactId): Promise<void> {
    this.close();
    const { listen, watchContact } = this.#sources;
    const unwatch = await watchContact(contact_id, this.#wake);
    this.#watched = { contact_id, unwatch, signals: listen({ contact_id }, this.#wake) };
  }
}

function typingItem({ author, author_name }: TypingSignal): TransientItem {
  return { event: "typing", transient: { author: author.type, author_name } };
}

function entriesAfter(
  reads: Reads,
  { address }: WebchatSessionRow,
  number: number,
): Promise<readonly MailRow[]> {
  return reads.range({
    index: mailByNumber,
    prefix: [address],
    order: "ascending",
    after: [number],
    limit: pageSize,
  });
}

/**
 * Uses the current messages: a redacted message has no body, and an erased one is skipped. Over
 * HTTP, redacted messages have an event type of their own, so that a page which only listens for
 * messages does not show them.
 */
async function messagesOf(
  reads: Reads,
  entries: readonly MailRow[],
): Promise<StreamItem<WebchatMessage>[]> {
  if (entries.length === 0) return [];
  const keys = entries.map(({ message_id }) => [message_id] as const);
  const rows = await reads.getAll(messageById, keys);
  const found = new Map(rows.map((row) => [row.id, messageResource(row)]));
  const nameOf = await readNames(
    reads,
    [...found.values()].map(({ author }) => author),
  );
  return entries.flatMap(({ number, message_id }) => {
    const message = found.get(message_id);
    if (message === undefined) return [];
    const item = { id: String(number), value: webchatMessage(message, nameOf(message.author)) };
    return [message.body === null ? { ...item, event: "redaction" } : item];
  });
}
