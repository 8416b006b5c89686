import type { DrawId } from "../kernel/index.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { openRuns } from "./runs/rows.ts";
import { isAside, mostOpenRuns } from "./runs/rules.ts";
import type { Tx } from "../store/index.ts";
import { endRun } from "./end-run.ts";

/** Ends what was begun as an answer before people had the conversation, and may still be under way: what begins now begins anew. */
export async function cancelAnswers(
  tx: Tx,
  drawId: DrawId,
  conversation: ConversationRow,
): Promise<void> {
  const open = await tx.list(openRuns, [conversation.id], mostOpenRuns);
  for (const run of open) {
    if (!isAside(run)) endRun(tx, drawId, conversation, run, { status: "canceled" });
  }
}
