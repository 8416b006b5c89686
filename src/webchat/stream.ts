import { markWebchatMail } from "./mark-messages.ts";
import { messageById, messageResource } from "../messages/index.ts";
import { webchatMessage } from "./resource.ts";
import {
  mailboxName,
  mailByNumber,
  type MailRow,
  webchatSessionById,
  type WebchatSessionRow,
} from "./rows.ts";
import { type VisitorStream, visitorStreamSchema } from "./types.ts";
import { notFound } from "../kernel/index.ts";
import { follow, type Told } from "../events/index.ts";
import type { EventStream, StreamEvent } from "../operations/index.ts";
import type { Reads } from "../store/index.ts";

/** Entries read at once. */
const pageSize = 100;
/** How long a browser waits before it comes again, in milliseconds. */
const retryMs = 2_000;

/**
 * A mailbox's messages in their order, each under its number: a browser that comes again with the last one that it had gets what is after
 * it, whichever process it reaches. Ends with the session.
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
    const news = sources.news(mailboxName(session));
    let after = last_event_id === undefined ? session.begins_after : Number(last_event_id);
    let isNew = true;
    const next = async (): Promise<Told | undefined> => {
      const latest = await reads.get(webchatSessionById, key);
      if (latest === undefined || latest.expires_at <= now()) return undefined;
      const entries = await entriesAfter(reads, session, after);
      after = entries.at(-1)?.number ?? after;
      const events = await eventsOf(reads, entries);
      // The first tells the browser at once that it is connected, and how long to wait when it isn't any more.
      const greeting = isNew ? [{ retry: retryMs }] : [];
      isNew = false;
      return { events: [...greeting, ...events], more: entries.length === pageSize };
    };
    return follow({ ...sources, news, next, endsAt: session.expires_at }, signal);
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

/** As the messages are now: what was redacted meanwhile has no words, and what is gone is passed over. */
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
