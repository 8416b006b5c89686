import type { ConversationRow } from "../../conversations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { afterDecisions, type CallDecision } from "./call-rules.ts";
import { publishDecisions } from "./publish-decisions.ts";
import { runs, type RunRow } from "./rows.ts";

/** Lets a run continue after decisions about its calls, and publishes an event for each. */
export function resumeRun(
  tx: Tx,
  conversation: ConversationRow,
  run: Seen<RunRow>,
  decisions: readonly CallDecision[],
): Seen<RunRow> {
  publishDecisions(tx, conversation, run, decisions);
  return tx.update(runs, run, {
    ...afterDecisions(run, decisions),
    status: "running",
    open: true,
    approve_by: null,
  });
}
