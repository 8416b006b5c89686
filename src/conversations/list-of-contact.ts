import { type ContactHistory, contactHistorySchema, contactToRead } from "../contacts/index.ts";
import { conversationsOfContact } from "./rows.ts";
import type { Conversation } from "./types.ts";
import { page, type Query } from "../operations/index.ts";
import type { Page } from "../kernel/index.ts";
import { showConversations } from "./show.ts";

/** A contact's conversations on all media, the one that began last first. */
export const listContactConversations: Query<ContactHistory, Page<Conversation>> = {
  kind: "query",
  name: "contacts.conversations",
  input: () => contactHistorySchema,
  async run(reads, { id, ...input }, call) {
    const contact = await contactToRead(reads, id);
    const walk = {
      index: conversationsOfContact,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.conversations",
      filters: { id: contact.id },
      input,
    };
    const found = await page(reads, walk, call);
    return { ...found, data: await showConversations(reads, found.data) };
  },
};
