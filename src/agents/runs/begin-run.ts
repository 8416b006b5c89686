import { conversations, type ConversationRow } from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { runs, type RunRow } from "./rows.ts";

type Begun = Pick<RunRow, "agent_id" | "agent_revision" | "playbook_id" | "trigger">;
type Cause = Pick<RunRow, "message_ids" | "heard_through"> | Pick<RunRow, "request">;

/**
 * Inserts a run, for messages of the contact or for a trigger. The conversation's next turn works
 * on it.
 */
export function beginRun(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  run: Begun & Cause,
): Seen<RunRow> {
  // A redaction under way must find the run, which reads the messages.
  tx.touch(conversations, conversation);
  return tx.insert(runs, {
    id: tx.drawId("run"),
    message_ids: [],
    heard_through: 0,
    read_from: null,
    request: null,
    conversation_id: conversation.id,
    ...run,
    status: "running",
    open: true,
    resumed: false,
    sent_message_ids: [],
    steps: [],
    calls: [],
    result: null,
    input_tokens: 0,
    output_tokens: 0,
    model_calls: 0,
    approve_by: null,
    created_at: tx.now,
    finished_at: null,
  });
}

/** Returns the columns of a run that answers these messages. */
export function messageColumns(
  messages: readonly MessageRow[],
): Pick<RunRow, "message_ids" | "heard_through"> {
  return {
    message_ids: messages.map(({ id }) => id),
    heard_through: messages.at(-1)?.sequence ?? 0,
  };
}
