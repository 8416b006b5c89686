import type { GenerateId } from "../kernel/index.ts";
import { arm, type Claim, finish } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { rememberHandOver } from "./hand-over.ts";
import { sendJob } from "./jobs.ts";
import { moveAndRecord } from "./move.ts";
import { messageById } from "./rows.ts";
import { release } from "./rules.ts";
import { stateOf } from "./stored-state.ts";

/** Queues a scheduled message that is due. A message edited to a later time keeps waiting. */
export async function releaseMessage(
  tx: Tx,
  claim: Claim<"release">,
  drawId: GenerateId,
): Promise<void> {
  const message = await tx.get(messageById, [claim.key.message_id]);
  if (message?.status !== "scheduled") return finish(tx, claim);

  const decision = release(stateOf(message), tx.now);
  if (decision.decision === "none") {
    await finish(tx, claim, { againAt: message.send_at ?? tx.now });
    return;
  }
  const updated = await moveAndRecord(tx, drawId, message, decision.state);
  rememberHandOver(tx, updated);
  await arm(tx, sendJob(updated, tx.now));
  await finish(tx, claim);
}
