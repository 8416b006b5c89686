import type { AgentRow } from "./rows.ts";
import { answersIn } from "./session.ts";
import { conversationById } from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import { type ApproveRun, approveRunSchema } from "./runs/input-types.ts";
import { callToDecide, runById, runResource, type RunRow, runs } from "./runs/rows.ts";
import { approvalStep, turnJob } from "./runs/rules.ts";
import type { Run } from "./runs/types.ts";
import { notFound, TidingsError } from "../kernel/index.ts";
import { type Command, personOf, showsOutput } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { agentToChange } from "./reads.ts";

/**
 * Approves or denies an action that waits for a decision. If several wait, this decides about the
 * oldest.
 */
export const approveRun: Command<ApproveRun, Run> = {
  kind: "command",
  name: "agents.approve",
  input: () => approveRunSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, run_id, decision, author_id }, { scope, caller }) {
    const person = personOf(caller, author_id);
    const agent = await agentToChange(tx, id);
    const run = await tx.get(runById, [run_id]);
    if (run?.agent_id !== agent.id) throw notFound("run");
    const call = callToDecide(run);
    // An approval after the deadline is refused, even if the job that denies it has not run yet.
    if (call === undefined || (run.approve_by ?? 0) <= tx.now) {
      throw new TidingsError(
        "conflict",
        "The run does not wait for an approval, or its deadline has passed.",
      );
    }
    // A single action from a trigger may run regardless of who handles the conversation.
    if (decision === "approve" && run.request?.type !== "action") {
      await checkAgentHandles(tx, run, agent);
    }
    const step = approvalStep(call, { decision, author_id: person ?? null, at: tx.now });
    const outcome =
      decision === "approve"
        ? { status: "approved" as const }
        : { status: "denied" as const, error: "denied" };
    const after = tx.update(runs, run, {
      calls: run.calls.map((each) => (each === call ? { ...call, ...outcome } : each)),
      steps: [...run.steps, step],
      status: "running",
      open: true,
      approve_by: null,
    });
    await arm(tx, turnJob({ ...scope, id: run.conversation_id }, tx.now));
    return runResource(after);
  },
};

/**
 * Refuses the approval if the agent does not handle the conversation: an approved action would not
 * run. The approval is possible again after a hand-back.
 * @throws TidingsError `conflict`
 */
async function checkAgentHandles(
  tx: Tx,
  { conversation_id }: RunRow,
  agent: AgentRow,
): Promise<void> {
  const conversation = await tx.get(conversationById, [conversation_id], { hold: true });
  if (conversation !== undefined && answersIn(agent, conversation)) return;
  throw new TidingsError(
    "conflict",
    "The agent no longer handles the conversation. Hand it back first.",
  );
}
