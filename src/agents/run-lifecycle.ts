import { agentRunCompleted } from "./events.ts";
import { runForEvent } from "./runs/reads.ts";
import { openRuns, type RunRow, runs } from "./runs/rows.ts";
import { answersNoMessages, maxOpenRuns } from "./runs/rules.ts";
import { type ConversationRow, conversations } from "../conversations/index.ts";
import { appendEvent, completedEventId } from "../events/index.ts";
import type { GenerateId } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

type Begun = Pick<RunRow, "agent_id" | "agent_revision" | "playbook_id" | "trigger">;
type Cause = Pick<RunRow, "message_ids" | "heard_through"> | Pick<RunRow, "request">;

/**
 * Inserts a run, for messages of the contact or for a trigger. The conversation's next turn works
 * on it.
 */
export function beginRun(
  tx: Tx,
  drawId: GenerateId,
  conversation: Seen<ConversationRow>,
  run: Begun & Cause,
): Seen<RunRow> {
  // Written without a change: a redaction under way must find the run, which reads the messages.
  tx.update(conversations, conversation, {});
  return tx.insert(runs, {
    id: drawId("run"),
    message_ids: [],
    heard_through: 0,
    request: null,
    conversation_id: conversation.id,
    ...run,
    status: "running",
    open: true,
    resumed: false,
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

/** Ends a run and publishes the event. */
export function endRun(
  tx: Tx,
  drawId: GenerateId,
  { contact_id, id: conversation_id }: Pick<ConversationRow, "contact_id" | "id">,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "status">,
): void {
  const ended = tx.update(runs, run, {
    ...patch,
    open: null,
    approve_by: null,
    finished_at: tx.now,
  });
  const about = { contact_id, conversation_id };
  appendEvent(
    tx,
    drawId,
    agentRunCompleted,
    { run: runForEvent(ended) },
    about,
    completedEventId(run.id),
  );
}

/** Cancels the runs that answer messages. They may still be open from before people took over. */
export async function cancelAnswerRuns(
  tx: Tx,
  drawId: GenerateId,
  conversation: ConversationRow,
): Promise<void> {
  const open = await tx.list(openRuns, [conversation.id], maxOpenRuns);
  for (const run of open) {
    if (!answersNoMessages(run)) endRun(tx, drawId, conversation, run, { status: "canceled" });
  }
}
