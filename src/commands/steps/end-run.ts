import type { ConversationRow } from "../../domain/conversations/rows.ts";
import { completedEventId } from "../../domain/events/rows.ts";
import { toldRun } from "../../domain/runs/resource.ts";
import { type RunRow, runs } from "../../domain/runs/rows.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Tx } from "../../transactions/transaction.ts";
import { type Actor, appendEvent } from "./append-event.ts";

/** Ends a run, and tells so. */
export function endRun(
  tx: Tx,
  actor: Actor,
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
    actor,
    "agent.run.completed",
    { run: toldRun(ended) },
    about,
    completedEventId(run.id),
  );
}
