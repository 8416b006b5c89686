import type { AccountId, ContactId, MessageId } from "../kernel/ids.ts";
import { collection, nullable, real, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";

/** How one inbound message sounds. */
export interface MessageScoreRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly contact_id: ContactId;
  readonly message_id: MessageId;
  /** `none`: the analyzer had nothing to say, or not in time. */
  readonly state: "pending" | "scored" | "none";
  readonly score: number | null;
  readonly created_at: number;
}

export const messageScores = collection<MessageScoreRow>("message_scores", {
  account_id: text,
  mode: text,
  contact_id: text,
  message_id: text,
  state: text,
  score: nullable(real),
  created_at: time,
});
export const messageScoreById = messageScores.key("account_id", "mode", "contact_id", "message_id");
/** What is still to be scored, in the order in which it came. Small, however long the history. */
export const pendingScores = messageScores.index("pending", ["contact_id", "message_id"], {
  where: { column: "state", in: ["pending"] },
});
