import { type ContactHistory, contactHistorySchema, contactToRead } from "../contacts/index.ts";
import { messageResource } from "./resource.ts";
import { messagesOfContact } from "./rows.ts";
import type { Message } from "./types.ts";
import { mapPage, page, type Query } from "../operations/index.ts";
import type { Page } from "../kernel/index.ts";

/** What went to and came from a contact on all channels, newest first. */
export const listContactMessages: Query<ContactHistory, Page<Message>> = {
  kind: "query",
  name: "contacts.messages",
  input: () => contactHistorySchema,
  async run(reads, { id, ...input }, call) {
    const contact = await contactToRead(reads, id);
    const walk = {
      index: messagesOfContact,
      prefix: [contact.id],
      order: "descending" as const,
      operation: "contacts.messages",
      filters: { id: contact.id },
      input,
    };
    return mapPage(await page(reads, walk, call), messageResource);
  },
};
