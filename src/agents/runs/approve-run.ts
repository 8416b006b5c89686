import { conversationById } from "../../conversations/index.ts";
import { notFound, TidingsError } from "../../kernel/index.ts";
import { personOf, showsOutput, type Command } from "../../operations/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { mayAnswerIn } from "../handling/session.ts";
import { turnJob } from "../job-orders.ts";
import { agentById } from "../rows.ts";
import { approveRunSchema, type ApproveRun } from "./input-types.ts";
import { runById, type RunRow } from "./rows.ts";
import { callsToDecide, runResource } from "./show.ts";
import type { Run } from "./types.ts";
import { resumeRun } from "./write-run.ts";

/**
 * Approves or denies an action that waits for a decision: the named call, or else the oldest. A
 * decision about a call that no longer waits is refused: the person has a stale view. The actions
 * of a deleted agent can be denied: until then, the messages that its run has read cannot be
 * redacted.
 */
export const approveRun: Command<ApproveRun, Run> = {
  kind: "command",
  name: "agents.approve",
  input: () => approveRunSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, run_id, decision, call_id, author_id }, { scope, caller }) {
    const person = personOf(caller, author_id);
    const run = await tx.get(runById, [run_id]);
    if (run?.agent_id !== id) throw notFound("run");
    const waiting = callsToDecide(run);
    const call = waiting.find((each) => call_id === undefined || each.id === call_id);
    if (call === undefined && waiting.length > 0) {
      throw new TidingsError(
        "conflict",
        "The run does not wait for a decision about the call in call_id. Read the run again.",
      );
    }
    // An approval after the deadline is refused, even if the job that denies it has not run yet.
    if (call === undefined || (call.approve_by ?? 0) <= tx.now) {
      throw new TidingsError(
        "conflict",
        "The run does not wait for an approval, or its deadline has passed.",
      );
    }
    const conversation = await tx.get(conversationById, [run.conversation_id]);
    // It was erased. A job is about to remove its runs.
    if (conversation === undefined) throw notFound("run");
    if (decision === "approve") await checkMayRun(tx, run);
    const author = { author_id: person ?? null, error: null };
    const after = resumeRun(tx, conversation, run, [{ call, decision, ...author, at: tx.now }]);
    await arm(tx, turnJob({ ...scope, id: run.conversation_id }, tx.now));
    return runResource(after);
  },
};

/**
 * Refuses the approval of an action that would not run: the agent was deleted or disabled, the
 * agent does not handle the conversation, or the conversation is closed. The approval is possible
 * again when the agent is enabled, or when the conversation is handed back or opened again.
 * @throws TidingsError `conflict`
 */
async function checkMayRun(tx: Tx, { agent_id, conversation_id, request }: RunRow): Promise<void> {
  const agent = await tx.get(agentById, [agent_id]);
  if (agent === undefined) {
    throw new TidingsError("conflict", "The agent was deleted. Its actions can only be denied.");
  }
  // A single action from a trigger may run regardless of who handles the conversation.
  if (request?.type === "action") return;
  if (agent.enabled !== true) {
    throw new TidingsError("conflict", "The agent is disabled. Enable it first.");
  }
  const conversation = await tx.get(conversationById, [conversation_id], { hold: true });
  if (conversation !== undefined && mayAnswerIn(agent, conversation)) return;
  if (conversation?.status === "closed") {
    throw new TidingsError("conflict", "The conversation is closed. Open it again first.");
  }
  throw new TidingsError(
    "conflict",
    "The agent no longer handles the conversation. Hand it back first.",
  );
}
