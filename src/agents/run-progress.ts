import { agentById, agentSessionOf, type AgentSessionRow, agentSessions } from "./rows.ts";
import { answersIn } from "./rules.ts";
import { runById, type RunRow, runs } from "./runs/rows.ts";
import { answersNoMessages, withCall } from "./runs/rules.ts";
import type { ActionCall } from "./runs/types.ts";
import { findUnanswered } from "./session.ts";
import type { BegunTurn, Progress } from "./turn-types.ts";
import { conversationById, type ConversationRow } from "../conversations/index.ts";
import type { Seen } from "../ports/index.ts";
import { type Claim, renew } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";

interface Rows {
  readonly run: Seen<RunRow>;
  readonly conversation: Seen<ConversationRow>;
  /** Null for a single action from a trigger, which does not use the session. */
  readonly session: Seen<AgentSessionRow> | null;
}

export type RunState =
  | (Rows & { readonly state: "current" })
  /** The contact has written more. Those messages are answered first, or together with the rest. */
  | (Rows & { readonly state: "overtaken" })
  /**
   * The agent no longer handles the conversation, its messages are answered, or the run is not
   * open.
   */
  | { readonly state: "over" };

/**
 * Returns whether a run may still act and reply. The rows are locked: a concurrent change by a
 * person, the contact or an erasure commits either before this and is seen, or after it.
 */
export async function readRunState(
  tx: Tx,
  { id, agent_id, conversation_id }: RunRow,
): Promise<RunState> {
  const [run, conversation, session, agent] = await Promise.all([
    tx.get(runById, [id], { hold: true }),
    tx.get(conversationById, [conversation_id], { hold: true }),
    tx.get(agentSessionOf, [conversation_id], { hold: true }),
    tx.get(agentById, [agent_id], { hold: true }),
  ]);
  if (run?.open !== true || conversation === undefined) return { state: "over" };
  // A single action sends nothing.
  if (run.request?.type === "action") return { state: "current", run, conversation, session: null };
  if (session === undefined || !answersIn(agent, conversation)) return { state: "over" };
  const rows = { run, conversation, session };
  const last = (await findUnanswered(tx, conversation, session)).at(-1);
  // A question sent now would seem to be answered by messages that are already there.
  if (answersNoMessages(run)) {
    return { state: last === undefined ? "current" : "overtaken", ...rows };
  }
  // A person has answered and handed the conversation back.
  if (last === undefined) return { state: "over" };
  return { state: last.sequence > run.heard ? "overtaken" : "current", ...rows };
}

interface Worked {
  readonly run: Seen<RunRow>;
  readonly session: Seen<AgentSessionRow> | null;
}

/**
 * Saves the steps, calls and usage of a turn, whatever its outcome. Otherwise calls could be made
 * twice, and tokens would not be counted.
 */
export function saveProgress(
  tx: Tx,
  { run, session }: Worked,
  { steps, calls, usage }: Progress,
): void {
  if (session !== null) {
    tx.update(agentSessions, session, {
      tokens: session.tokens + newTokens(run, usage),
      updated_at: tx.now,
    });
  }
  tx.update(runs, run, { steps, calls, ...usage });
}

/** Returns the tokens used since the run was last written. */
export function newTokens(run: RunRow, { input_tokens, output_tokens }: Progress["usage"]): number {
  return input_tokens + output_tokens - run.input_tokens - run.output_tokens;
}

interface KeepCall {
  readonly leaseMs: number;
  readonly call: ActionCall;
  /** The progress before the call. */
  readonly progress: Progress;
}

/**
 * Records that an action is about to be called. Returns false if it must not be called: the lease
 * was lost, a person has taken over the conversation, or the contact has written again.
 */
export async function recordPendingCall(
  tx: Tx,
  claim: Claim<"turn">,
  { run }: Pick<BegunTurn, "run">,
  { leaseMs, call, progress }: KeepCall,
): Promise<boolean> {
  if (!(await renew(tx, claim, leaseMs))) return false;
  const standing = await readRunState(tx, run);
  if (standing.state === "over") return false;
  const isCurrent = standing.state === "current";
  // Saved together with the earlier calls, so that call ids stay unique after a crash.
  saveProgress(
    tx,
    standing,
    isCurrent ? { ...progress, calls: withCall(progress.calls, call) } : progress,
  );
  return isCurrent;
}

/**
 * Records the result of a call. It is saved even if another turn has taken over the run, because
 * the action was really done.
 */
export async function recordCall(tx: Tx, { id }: RunRow, call: ActionCall): Promise<void> {
  const run = await tx.get(runById, [id]);
  const before = run?.calls.find((each) => each.id === call.id);
  if (run === undefined || before?.status !== "pending") return;
  tx.update(runs, run, { calls: withCall(run.calls, call) });
}
