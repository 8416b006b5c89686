import { agentRunCompleted } from "./events.ts";
import type { DrawId } from "../kernel/index.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { appendEvent, completedEventId } from "../events/index.ts";
import { toldRun } from "./runs/resource.ts";
import { type RunRow, runs } from "./runs/rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** Ends a run, and tells so. */
export function endRun(
  tx: Tx,
  drawId: DrawId,
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
    { run: toldRun(ended) },
    about,
    completedEventId(run.id),
  );
}
