import { type Claim, finish } from "../queue/index.ts";
import { awaitingRuns, openRuns } from "./runs/rows.ts";
import type { Tx } from "../store/index.ts";

interface GiveBackTurn {
  /** There is more to do than what is on record. */
  readonly hasMore: boolean;
}

/** Gives a turn's job back. It comes at once while there are open runs, and to those that wait for somebody when that has been long enough. */
export async function giveBackTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { hasMore }: GiveBackTurn,
): Promise<void> {
  const [[open], [waiting]] = await Promise.all([
    tx.list(openRuns, [claim.key.conversation_id], 1),
    tx.list(awaitingRuns, [claim.key.conversation_id], 1),
  ]);
  const againAt = hasMore || open !== undefined ? tx.now : waiting?.approve_by;
  await finish(tx, claim, againAt == null ? {} : { againAt });
}
