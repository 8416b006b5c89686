import { contactToRead, sentimentOf, trendOf, type ContactSentiment } from "../contacts/index.ts";
import { byIdSchema, iso, type ById } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { scan } from "../store/index.ts";
import { messageScores } from "./rows.ts";

/** The maximum number of messages that a contact's sentiment shows. */
const maxMessages = 20;

/**
 * Returns a contact's sentiment, its trend and the messages behind it. For a merged contact,
 * returns the sentiment of the contact into which it was merged.
 */
export const getContactSentiment: Query<ById, ContactSentiment> = {
  kind: "query",
  name: "contacts.sentiment",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const contact = await contactToRead(reads, id);
    const { rows } = await scan(reads, {
      index: messageScores.primary,
      prefix: [contact.id],
      order: "descending",
      where: { state: ["scored"] },
      limit: maxMessages,
    });
    const messages = rows.flatMap(({ message_id, score, created_at }) =>
      score === null ? [] : [{ message_id, score, created_at: iso(created_at) }],
    );
    return {
      current: contact.sentiment_state === null ? null : sentimentOf(contact.sentiment_state),
      trend: trendOf(messages.map(({ score }) => score)),
      messages,
    };
  },
};
