import type { ConversationRow } from "../../conversations/index.ts";
import { appendEvent } from "../../events/index.ts";
import { iso } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentRunAwaitingApproval } from "../events.ts";
import { callsAfterTurn, firstDenialOf } from "./call-rules.ts";
import { runs, type RunRow } from "./rows.ts";
import { callsToDecide } from "./show.ts";

/**
 * Lets a run wait for the approval of a call, and publishes the event. The event quotes nothing
 * from the run, so a redaction does not change it.
 */
export function pauseRun(
  tx: Tx,
  { contact_id, id: conversation_id }: ConversationRow,
  run: Seen<RunRow>,
  patch: Partial<RunRow> & Pick<RunRow, "calls">,
): void {
  const calls = callsAfterTurn(patch.calls, tx.now);
  const approve_by = firstDenialOf(calls);
  const paused = tx.update(runs, run, {
    ...patch,
    calls,
    status: "awaiting_approval",
    open: null,
    resumed: true,
    approve_by,
  });
  const [call] = callsToDecide(paused);
  if (call === undefined) throw new TypeError("a run without a waiting call was paused");
  const about = { contact_id, conversation_id };
  const { id: run_id, agent_id } = paused;
  const data = {
    run_id,
    agent_id,
    ...about,
    call_id: call.id,
    action: call.action,
    approve_by: iso(call.approve_by ?? approve_by),
  };
  appendEvent(tx, agentRunAwaitingApproval, data, about);
}
