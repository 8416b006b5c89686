import type { ContactId, MessageId } from "../kernel/index.ts";
import { nullable, real, scoped, text, time, type RowOf } from "../ports/index.ts";

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
