import { type Claim, renew } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { endRun } from "./end-run.ts";
import { giveBackTurn } from "./give-back-turn.ts";
import { handOff } from "./hand-off.ts";
import { runStanding } from "./run-standing.ts";
import type { BegunTurn, TurnContext } from "./turn-rows.ts";

/** Gives up a turn that can't be brought to its end, and leaves who waits for it to people. */
export async function failTurn(
  tx: Tx,
  claim: Claim<"turn">,
  { run: begun }: BegunTurn,
  { leaseMs, services }: TurnContext,
): Promise<void> {
  if (!(await renew(tx, claim, leaseMs))) return;
  const standing = await runStanding(tx, begun);
  if (standing.state !== "over") {
    const { run, session } = standing;
    const { drawId } = services;
    const reason = "The turn failed again and again.";
    // Nobody waits for an action that was ordered by itself.
    const conversation =
      session === null
        ? standing.conversation
        : await handOff(tx, drawId, standing.conversation, {
            rule: null,
            reason,
            summary: "",
            run_id: run.id,
          });
    endRun(tx, drawId, conversation, run, { status: "failed", result: { error: reason } });
  }
  await giveBackTurn(tx, claim, { hasMore: true });
}
