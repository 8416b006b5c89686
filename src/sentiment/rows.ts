import { type ById, byIdSchema, type ContactId, iso, type MessageId } from "../kernel/index.ts";
import { nullable, real, type RowOf, scoped, text, time } from "../ports/index.ts";
import { type ContactSentiment, contactToRead, sentimentOf, trendOf } from "../contacts/index.ts";
import type { Query } from "../operations/index.ts";
import { scan } from "../store/index.ts";

/** The sentiment score of an inbound message. */
export const messageScores = scoped("message_scores", {
  contact_id: text<ContactId>(),
  message_id: text<MessageId>(),
  /** `none` if the analyzer returned no score, failed or passed its deadline. */
  state: text<"pending" | "scored" | "none">(),
  score: nullable(real()),
  created_at: time(),
});
export interface MessageScoreRow extends RowOf<typeof messageScores> {}

export const messageScoreById = messageScores.key("contact_id", "message_id");
/**
 * The unscored messages, oldest first. Scored messages are not in this index, so it stays small.
 */
export const pendingScores = messageScores.byId.index("pending", ["contact_id", "message_id"], {
  where: { column: "state", in: ["pending"] },
});

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
