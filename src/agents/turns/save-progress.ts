import { renew, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { agentSessions } from "../rows.ts";
import { afterCall, withCall, withoutCall } from "../runs/call-rules.ts";
import { runById, runs, type RunRow } from "../runs/rows.ts";
import type { RunStep } from "../runs/step-types.ts";
import type { ActionCall } from "../runs/types.ts";
import { readRunState, type RunState } from "./run-state.ts";
import type { Progress } from "./turn-types.ts";

/**
 * Saves the steps, calls and usage of a turn that has not concluded. Otherwise calls could be made
 * twice, and tokens would not be counted. If the run is no longer open, only its usage is saved: it
 * keeps its steps, and the end of each call is saved separately.
 */
export function saveProgress(
  tx: Tx,
  state: RunState,
  { steps, calls, read_from, usage }: Progress,
): void {
  const { run, session } = state;
  if (run === undefined) return;
  if (session !== null) {
    tx.update(agentSessions, session, {
      tokens: session.tokens + newTokens(run, usage),
      updated_at: tx.now,
    });
  }
  tx.update(runs, run, state.state === "closed" ? usage : { steps, calls, read_from, ...usage });
}

/** Returns the tokens used since the run was last written. */
export function newTokens(run: RunRow, { input_tokens, output_tokens }: Progress["usage"]): number {
  return input_tokens + output_tokens - run.input_tokens - run.output_tokens;
}

interface PendingCall {
  readonly call: ActionCall;
  /** The progress before the call. */
  readonly progress: Progress;
}

/**
 * Records that an action is about to be called. Returns false if it must not be called: the lease
 * was lost, the contact has written again, or the run may no longer act, for example because a
 * person has taken over the conversation.
 */
export async function recordPendingCall(
  tx: Tx,
  claim: Claim<"turn">,
  run: RunRow,
  { call, progress }: PendingCall,
): Promise<boolean> {
  if ((await renew(tx, claim)) === undefined) return false;
  const current = await readRunState(tx, run);
  const isCurrent = current.state === "current";
  // A call id counts the saved calls. So this call is saved together with the earlier ones, and ids
  // stay unique after a crash.
  saveProgress(
    tx,
    current,
    isCurrent ? { ...progress, calls: withCall(progress.calls, call) } : progress,
  );
  return isCurrent;
}

interface CallNotMade {
  readonly call: ActionCall;
  /** The recorded call that it would have continued. */
  readonly earlier: ActionCall | undefined;
}

/**
 * Undoes `recordPendingCall` for a call that was not made after all. Under a lost lease, the call
 * belongs to another engine by now.
 */
export async function takeBackCall(
  tx: Tx,
  claim: Claim<"turn">,
  { id }: RunRow,
  { call, earlier }: CallNotMade,
): Promise<void> {
  if ((await renew(tx, claim)) === undefined) return;
  const run = await tx.get(runById, [id]);
  if (run === undefined) return;
  tx.update(runs, run, { calls: withoutCall(run.calls, call, earlier) });
}

/**
 * Records the result of a call, and its step. They are saved even if another turn has taken over
 * the run or the run has ended, because the action was really done.
 */
export async function recordCall(
  tx: Tx,
  { id }: RunRow,
  call: ActionCall,
  step: RunStep,
): Promise<void> {
  const run = await tx.get(runById, [id]);
  const before = run?.calls.find((each) => each.id === call.id);
  if (run === undefined || before?.status !== "pending") return;
  tx.update(runs, run, afterCall(run, call, step));
}
