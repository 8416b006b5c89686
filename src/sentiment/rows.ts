import type { ContactId, MessageId } from "../kernel/index.ts";
import { nullable, real, type RowOf, scoped, text, time } from "../ports/index.ts";

/** How one inbound message sounds. */
export const messageScores = scoped("message_scores", {
  contact_id: text<ContactId>(),
  message_id: text<MessageId>(),
  /** `none`: the analyzer had nothing to say, or not in time. */
  state: text<"pending" | "scored" | "none">(),
  score: nullable(real()),
  created_at: time(),
});
export interface MessageScoreRow extends RowOf<typeof messageScores> {}

export const messageScoreById = messageScores.key("contact_id", "message_id");
/** What is still to be scored, in the order in which it came. Small, however long the history. */
export const pendingScores = messageScores.byId.index("pending", ["contact_id", "message_id"], {
  where: { column: "state", in: ["pending"] },
});
