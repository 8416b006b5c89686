import type { ConversationRow } from "../../conversations/index.ts";
import { appendEvent } from "../../events/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentRunApprovalDecided } from "../events.ts";
import type { CallDecision } from "./call-rules.ts";
import type { RunRow } from "./rows.ts";

/**
 * Publishes an event for each decision. The events quote nothing from the run, so a redaction does
 * not change them.
 */
export function publishDecisions(
  tx: Tx,
  { contact_id, id: conversation_id }: ConversationRow,
  { id: run_id, agent_id }: RunRow,
  decisions: readonly CallDecision[],
): void {
  const about = { contact_id, conversation_id };
  for (const { call, decision, author_id, error } of decisions) {
    const { id: call_id, action } = call;
    const data = { run_id, agent_id, ...about, call_id, action, decision, author_id, error };
    appendEvent(tx, agentRunApprovalDecided, data, about);
  }
}
