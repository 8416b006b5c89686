import { messageScores } from "./rows.ts";
import { type ContactSentiment, contactToRead, sentimentOf, trendOf } from "../contacts/index.ts";
import { type ById, byIdSchema, iso } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { look } from "../store/index.ts";

/** The messages that are shown. */
const mostMessages = 20;

/** How a contact feels, where that goes, and the messages that moved it. A contact that was merged feels as who it is now. */
export const getContactSentiment: Query<ById, ContactSentiment> = {
  kind: "query",
  name: "contacts.sentiment",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const contact = await contactToRead(reads, id);
    const { rows } = await look(reads, {
      index: messageScores.primary,
      prefix: [contact.id],
      order: "descending",
      where: { state: ["scored"] },
      limit: mostMessages,
    });
    const messages = rows.flatMap(({ message_id, score, created_at }) =>
      score === null ? [] : [{ message_id, score, created_at: iso(created_at) }],
    );
    return {
      current: contact.mood === null ? null : sentimentOf(contact.mood),
      trend: trendOf(messages.map(({ score }) => score)),
      messages,
    };
  },
};
