import type { ConversationRow } from "../../conversations/index.ts";
import { appendEvent, completedEventId } from "../../events/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentRunCompleted } from "../events.ts";
import { afterDecisions, finalDenials } from "./call-rules.ts";
import { openAnswers } from "./open-runs.ts";
import { publishDecisions } from "./publish-decisions.ts";
import { runs, type RunRow } from "./rows.ts";
import { runForEvent } from "./show.ts";

/** Ends a run and publishes the event. Calls that still wait for an approval are denied. */
export function endRun(
  tx: Tx,
  conversation: ConversationRow,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "status">,
): void {
  const before = { ...run, ...patch };
  const denials = finalDenials(before.calls, tx.now);
  const ended = tx.update(runs, run, {
    ...patch,
    ...afterDecisions(before, denials),
    open: null,
    approve_by: null,
    finished_at: tx.now,
  });
  publishDecisions(tx, conversation, run, denials);
  const { contact_id, id: conversation_id } = conversation;
  const data = { run: runForEvent(ended) };
  const about = { contact_id, conversation_id };
  appendEvent(tx, agentRunCompleted, data, about, completedEventId(run.id));
}

export function cancelRun(tx: Tx, conversation: ConversationRow, run: Seen<RunRow>): void {
  endRun(tx, conversation, run, { status: "canceled" });
}

/** Cancels the runs that answer messages. They may still be open from before people took over. */
export async function cancelAnswerRuns(tx: Tx, conversation: ConversationRow): Promise<void> {
  for (const run of await openAnswers(tx, conversation.id)) {
    cancelRun(tx, conversation, run);
  }
}
