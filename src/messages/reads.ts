import {
  type ById,
  byIdSchema,
  firstIdAt,
  millis,
  notFound,
  type Page,
  ulidOf,
} from "../kernel/index.ts";
import { mapPage, page, type Query, type Walk } from "../operations/index.ts";
import type { Reads, ScopedRangeOf } from "../store/index.ts";
import { firstStatus, type Happening, happeningsOf, timelineOf } from "./timeline-rules.ts";
import type { Timeline, TimelineEntry } from "./timeline-types.ts";
import { messageResource } from "./resource.ts";
import {
  attemptsOfMessage,
  messageById,
  type MessageRow,
  messages,
  messagesOfContact,
  messagesOfConversation,
  timelineById,
} from "./rows.ts";
import { type ListMessages, listMessagesSchema, type Message, type MessageError } from "./types.ts";

export async function readMessage(reads: Reads, id: string): Promise<MessageRow> {
  const message = await reads.get(messageById, [id]);
  if (message === undefined) throw notFound("message");
  return message;
}

export const getMessage: Query<ById, Message> = {
  kind: "query",
  name: "messages.get",
  input: () => byIdSchema,
  run: async (reads, { id }) => messageResource(await readMessage(reads, id)),
};

/** Newest first; of one conversation, in its order from the end. */
export const listMessages: Query<ListMessages, Page<Message>> = {
  kind: "query",
  name: "messages.list",
  input: () => listMessagesSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const walk: Walk<MessageRow> = {
      ...rangeOf(filters),
      operation: "messages.list",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, walk, call), messageResource);
  },
};

type Filters = Omit<ListMessages, "limit" | "cursor">;

/** The shortest stretch of an index that has all the rows; the rest of the filters sort out what else is in it. */
function rangeOf(filters: Filters): Omit<ScopedRangeOf<MessageRow>, "limit"> {
  const { conversation_id, contact_id, created_after, created_before, ...columns } = filters;
  const where = Object.fromEntries(
    Object.entries(columns).filter(([, value]) => value !== undefined),
  );
  const order = "descending";
  const times = {
    ...(created_before === undefined ? {} : { after: [firstIdAt("msg", millis(created_before))] }),
    ...(created_after === undefined
      ? {}
      : { until: [firstIdAt("msg", millis(created_after) + 1)] }),
  };
  const anyTime = created_after === undefined && created_before === undefined;
  if (conversation_id !== undefined && anyTime) {
    const also = contact_id === undefined ? {} : { contact_id };
    return {
      index: messagesOfConversation,
      prefix: [conversation_id],
      order,
      where: { ...where, ...also },
    };
  }
  const also = conversation_id === undefined ? {} : { conversation_id };
  if (contact_id !== undefined) {
    return {
      index: messagesOfContact,
      prefix: [contact_id],
      order,
      where: { ...where, ...also },
      ...times,
    };
  }
  return {
    index: messages.primary,
    prefix: [],
    order,
    where: { ...where, ...also },
    ...times,
  };
}

/** Of a message's attempts and of its other happenings: of a flood of receipts, the latest. */
const mostEntries = 1_000;

/** What happened to a message: its changes of status, attempts, receipts and look-ups, also those that changed nothing. */
export const getTimeline: Query<ById, Timeline> = {
  kind: "query",
  name: "messages.timeline",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const message = await readMessage(reads, id);
    const [tried, rows] = await Promise.all([
      reads.range({
        index: attemptsOfMessage,
        prefix: [id],
        order: "descending",
        limit: mostEntries,
      }),
      reads.range({
        index: timelineById,
        prefix: [id],
        order: "descending",
        limit: mostEntries,
      }),
    ]);
    const others = rows.map(({ id: entry_id, message_version, at, led_to, entry }): Happening => ({
      version: message_version,
      ulid: ulidOf(entry_id),
      at,
      led_to,
      entry,
      error: errorOf(entry),
    }));
    const happenings = [...tried.flatMap(happeningsOf), ...others];
    const first =
      message.direction === "inbound"
        ? "received"
        : firstStatus(happenings, message.send_at !== null);
    const created: Happening = {
      version: 0,
      ulid: ulidOf(id),
      at: message.created_at,
      led_to: first,
      error: null,
      entry: null,
    };
    return { data: timelineOf(created, happenings) };
  },
};

function errorOf(entry: TimelineEntry | null): MessageError | null {
  return entry !== null && "error" in entry ? entry.error : null;
}
