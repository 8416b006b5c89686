import { type Claim, renew } from "../queue/index.ts";
import { type RunRow, runById, runs } from "./runs/rows.ts";
import { withCall } from "./runs/rules.ts";
import type { ActionCall } from "./runs/types.ts";
import type { Tx } from "../store/index.ts";
import { keepProgress } from "./keep-progress.ts";
import { runStanding } from "./run-standing.ts";
import type { BegunTurn, Progress } from "./turn-rows.ts";

interface KeepCall {
  readonly leaseMs: number;
  readonly call: ActionCall;
  /** What was done before it. */
  readonly progress: Progress;
}

/**
 * Writes down that an action is about to be called. False: it must not be, for the lease is lost, or the turn is over: somebody has taken
 * the conversation over, or has written meanwhile.
 */
export async function keepCall(
  tx: Tx,
  claim: Claim<"turn">,
  { run }: Pick<BegunTurn, "run">,
  { leaseMs, call, progress }: KeepCall,
): Promise<boolean> {
  if (!(await renew(tx, claim, leaseMs))) return false;
  const standing = await runStanding(tx, run);
  if (standing.state === "over") return false;
  const isCurrent = standing.state === "current";
  // With the calls before it, so that after a crash its id is no other's.
  keepProgress(
    tx,
    standing,
    isCurrent ? { ...progress, calls: withCall(progress.calls, call) } : progress,
  );
  return isCurrent;
}

/** Writes down what came of a call: true whoever has the run by now, for it tells of what was done outside. */
export async function recordCall(tx: Tx, { id }: RunRow, call: ActionCall): Promise<void> {
  const run = await tx.get(runById, [id]);
  const before = run?.calls.find((each) => each.id === call.id);
  if (run === undefined || before?.status !== "pending") return;
  tx.update(runs, run, { calls: withCall(run.calls, call) });
}
