import { contactHistorySchema, contactToRead, findSurvivor } from "../contacts/index.ts";
import { conversationById, threadQuerySchema } from "../conversations/index.ts";
import {
  byIdSchema,
  definedFields,
  notFound,
  type ById,
  type Page,
  type PageQuery,
} from "../kernel/index.ts";
import { createdBetween, mapPage, page, type Query, type RangeList } from "../operations/index.ts";
import { findJob } from "../queue/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import { listAttempts } from "./attempts/attempts.ts";
import { listMessagesSchema, type ListMessages } from "./input-types.ts";
import {
  messageById,
  messages,
  messagesByRareStatus,
  messagesOfContact,
  messagesOfConversation,
  rareStatuses,
  type MessageRow,
} from "./rows.ts";
import { isWaiting } from "./rules.ts";
import { messageResource } from "./show.ts";
import type { Message } from "./types.ts";

/** @throws TidingsError `not_found` */
export async function readMessage(reads: Reads, id: string): Promise<MessageRow> {
  const message = await reads.get(messageById, [id]);
  if (message === undefined) throw notFound("message", id);
  return message;
}

export const getMessage: Query<ById, Message> = {
  kind: "query",
  name: "messages.get",
  input: () => byIdSchema,
  run: async (reads, { id }) => messageResource(await readMessage(reads, id)),
};

/** Newest first. With `conversation_id`, in the order of the thread, from its end. */
export const listMessages: Query<ListMessages, Page<Message>> = {
  kind: "query",
  name: "messages.list",
  input: () => listMessagesSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { contact_id } = filters;
    // The messages of a merged contact have moved to its survivor.
    const survivor = contact_id === undefined ? undefined : await findSurvivor(reads, contact_id);
    const list: RangeList<MessageRow> = {
      ...rangeOf(survivor === undefined ? filters : { ...filters, contact_id: survivor.id }),
      operation: "messages.list",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, list, call), messageResource);
  },
};

type Filters = Omit<ListMessages, "limit" | "cursor">;

/**
 * Returns the narrowest index range that contains all matches. The other filters apply to its rows.
 */
function rangeOf(filters: Filters): Omit<RangeList<MessageRow>, "operation" | "filters" | "input"> {
  const { conversation_id, contact_id, created_after, created_before, ...columns } = filters;
  const order = "descending";
  const times = createdBetween("msg", { created_after, created_before });
  if (conversation_id !== undefined) {
    // Numbers of places do not grow with the time of creation, so the times bound no range here.
    const { keep } = times;
    const where = definedFields({ ...columns, contact_id });
    const index = messagesOfConversation;
    return { index, prefix: [conversation_id], order, where, ...(keep && { keep }) };
  }
  const rest = { order, where: definedFields(columns), ...times } as const;
  if (contact_id !== undefined) return { index: messagesOfContact, prefix: [contact_id], ...rest };
  const status = rareStatuses.find((each) => each === columns.status);
  return status === undefined
    ? { index: messages.primary, prefix: [], ...rest }
    : { index: messagesByRareStatus, prefix: [status], ...rest };
}

/** A contact's messages on all channels, newest first. */
export const listContactMessages: Query<PageQuery & ById, Page<Message>> = {
  kind: "query",
  name: "contacts.messages",
  input: () => contactHistorySchema,
  async run(reads, { id, ...input }, call) {
    const contact = await contactToRead(reads, id);
    const list = {
      index: messagesOfContact,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.messages",
      filters: { id },
      input,
    };
    return mapPage(await page(reads, list, call), messageResource);
  },
};

/** A conversation's messages: those that wait for their time, and then the thread from the last. */
export const listConversationMessages: Query<PageQuery & ById, Page<Message>> = {
  kind: "query",
  name: "conversations.messages",
  input: () => threadQuerySchema,
  async run(reads, { id, ...input }, call) {
    if ((await reads.get(conversationById, [id])) === undefined) {
      throw notFound("conversation", id);
    }
    const list = {
      index: messagesOfConversation,
      prefix: [id],
      order: "descending",
      operation: "conversations.messages",
      filters: { id },
      input,
    } as const;
    return mapPage(await page(reads, list, call), messageResource);
  },
};

/** Returns whether the message may still be handed over, or an attempt is still looked up. */
export async function isMessageInProgress(tx: Tx, id: string): Promise<boolean> {
  const message = await tx.get(messageById, [id]);
  if (message === undefined) return false;
  if (isWaiting(message) || message.status === "sending") return true;
  // If the look-up finds that nothing was sent, the message is sent again.
  const made = await listAttempts(tx, message);
  const jobs = await Promise.all(
    made.map(({ id }) => findJob(tx, { kind: "follow-up", key: { attempt_id: id } })),
  );
  return jobs.some((job) => job !== undefined);
}
