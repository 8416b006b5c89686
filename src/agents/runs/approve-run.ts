import { conversationById, type ConversationRow } from "../../conversations/index.ts";
import { notFound, pathField, TidingsError, withPath, type ById } from "../../kernel/index.ts";
import { personOf, showsOutput, type Command } from "../../operations/index.ts";
import { arm } from "../../queue/index.ts";
import { mayAnswerIn } from "../find-agent.ts";
import { turnJob } from "../job-orders.ts";
import { agentById, type AgentRow } from "../rows.ts";
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
export const approveRun: Command<ApproveRun & ById & { readonly run_id: string }, Run> = {
  kind: "command",
  name: "agents.approve",
  input: () =>
    withPath(approveRunSchema, {
      id: pathField("The id of the agent."),
      run_id: pathField("The id of the run. Its status must be `awaiting_approval`."),
    }),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, run_id, decision, call_id, author_id }, { scope, caller }) {
    const person = personOf(caller, author_id);
    const run = await tx.get(runById, [run_id]);
    if (run?.agent_id !== id) throw notFound("run", run_id);
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
    // A single action from a trigger may run regardless of who handles the conversation.
    const hold = decision === "approve" && run.request?.type !== "action";
    const conversation = await tx.get(conversationById, [run.conversation_id], { hold });
    // It was erased. A job is about to remove its runs.
    if (conversation === undefined) throw notFound("run", run_id);
    if (decision === "approve") {
      const agent = await tx.get(agentById, [id]);
      const obstacle = obstacleTo(run, agent, conversation);
      if (obstacle !== undefined) throw new TidingsError("conflict", obstacle);
    }
    const author = { author_id: person ?? null, error: null };
    const after = resumeRun(tx, conversation, run, [{ call, decision, ...author, at: tx.now }]);
    await arm(tx, turnJob({ ...scope, id: run.conversation_id }, tx.now));
    return runResource(after);
  },
};

/**
 * Returns why an approved action of a run would not run; undefined if it would. An approval is
 * possible again when the agent is enabled, or when the conversation is handed back or opened
 * again.
 */
function obstacleTo(
  { request }: RunRow,
  agent: AgentRow | undefined,
  conversation: ConversationRow,
): string | undefined {
  if (agent === undefined) return "The agent was deleted. Its actions can only be denied.";
  if (request?.type === "action") return undefined;
  if (agent.enabled !== true) return "The agent is disabled. Enable it first.";
  if (conversation.status === "closed") return "The conversation is closed. Open it again first.";
  return mayAnswerIn(agent, conversation)
    ? undefined
    : "The agent no longer handles the conversation. Hand it back first.";
}
