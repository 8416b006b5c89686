import { contactHistorySchema, contactToRead } from "../contacts/index.ts";
import {
  byIdSchema,
  mediums,
  notFound,
  type ById,
  type Page,
  type PageQuery,
} from "../kernel/index.ts";
import { mapPage, page, type ContactActivity, type Query } from "../operations/index.ts";
import { threadQuerySchema } from "./input-types.ts";
import { conversationById, conversationsOfContact, currentConversation, notes } from "./rows.ts";
import { noteResource, showConversations } from "./show.ts";
import type { Conversation, Note } from "./types.ts";

export const getConversation: Query<ById, Conversation> = {
  kind: "query",
  name: "conversations.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const row = await reads.get(conversationById, [id]);
    const [conversation] = row === undefined ? [] : await showConversations(reads, [row]);
    if (conversation === undefined) throw notFound("conversation", id);
    return conversation;
  },
};

/** Lists a contact's conversations on all media, newest start first. */
export const listContactConversations: Query<PageQuery & ById, Page<Conversation>> = {
  kind: "query",
  name: "contacts.conversations",
  input: () => contactHistorySchema,
  async run(reads, { id, ...input }, call) {
    const contact = await contactToRead(reads, id);
    const list = {
      index: conversationsOfContact,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.conversations",
      filters: { id },
      input,
    };
    const found = await page(reads, list, call);
    return { ...found, data: await showConversations(reads, found.data) };
  },
};

/** Lists the notes of a conversation, newest first. */
export const listNotes: Query<PageQuery & ById, Page<Note>> = {
  kind: "query",
  name: "conversations.notes",
  input: () => threadQuerySchema,
  async run(reads, { id, ...input }, call) {
    if ((await reads.get(conversationById, [id])) === undefined) {
      throw notFound("conversation", id);
    }
    const list = {
      index: notes.primary,
      prefix: [id],
      order: "descending",
      operation: "conversations.notes",
      filters: { id },
      input,
    } as const;
    return mapPage(await page(reads, list, call), noteResource);
  },
};

/** Reads the activity in the current conversations of contacts. */
export const contactActivity: ContactActivity = {
  async of(tx, contact) {
    const current = await Promise.all(
      mediums.map((medium) => tx.get(currentConversation, [contact, medium])),
    );
    return current.filter((each) => each !== undefined);
  },
  ofAll: (reads, contacts) =>
    reads.getAll(
      currentConversation,
      contacts.flatMap((contact) => mediums.map((medium) => [contact, medium] as const)),
    ),
};
