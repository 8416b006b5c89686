import { markWebchatMail } from "./visitor-messages.ts";
import { messageById, messageResource } from "../messages/index.ts";
import { webchatMessage, type VisitorStream, visitorStreamSchema } from "./types.ts";
import {
  mailboxName,
  mailByNumber,
  type MailRow,
  webchatSessionById,
  type WebchatSessionRow,
} from "./rows.ts";
import { notFound } from "../kernel/index.ts";
import { follow, type StreamBatch } from "../events/index.ts";
import type { EventStream, StreamEvent } from "../operations/index.ts";
import type { Reads } from "../store/index.ts";

/** Entries per read. */
const pageSize = 100;
/** The browser's reconnection delay, in milliseconds. */
const retryMs = 2_000;

/**
 * Streams a mailbox's messages in order, each with its number as the event id. A browser that
 * reconnects to any process continues after its last number. Ends with the session.
 */
export const webchatStream: EventStream<VisitorStream> = {
  kind: "stream",
  name: "webchat.stream",
  input: () => visitorStreamSchema,
  before: markWebchatMail,
  async open(sources, { id, last_event_id }, _call, signal) {
    const { reads, now } = sources;
    const key = [id] as const;
    const session = await reads.get(webchatSessionById, key);
    if (session === undefined) throw notFound("webchat session");
    const notifications = sources.notifications(mailboxName(session));
    let after = last_event_id === undefined ? session.begins_after : Number(last_event_id);
    let isFirst = true;
    const next = async (): Promise<StreamBatch | undefined> => {
      const latest = await reads.get(webchatSessionById, key);
      if (latest === undefined || latest.expires_at <= now()) return undefined;
      const entries = await entriesAfter(reads, session, after);
      after = entries.at(-1)?.number ?? after;
      const events = await eventsOf(reads, entries);
      // The first event shows the browser that it is connected, and sets its reconnection delay.
      const greeting = isFirst ? [{ retry: retryMs }] : [];
      isFirst = false;
      return { events: [...greeting, ...events], more: entries.length === pageSize };
    };
    return follow({ ...sources, notifications, next, endsAt: session.expires_at }, signal);
  },
};

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

/** Uses the current messages: a redacted message has no body, and an erased one is skipped. */
async function eventsOf(reads: Reads, entries: readonly MailRow[]): Promise<StreamEvent[]> {
  if (entries.length === 0) return [];
  const keys = entries.map(({ message_id }) => [message_id] as const);
  const found = new Map((await reads.getAll(messageById, keys)).map((row) => [row.id, row]));
  return entries.flatMap(({ number, message_id }) => {
    const message = found.get(message_id);
    if (message === undefined) return [];
    return [{ id: String(number), data: JSON.stringify(webchatMessage(messageResource(message))) }];
  });
}
