import { arm, type Claim, finish } from "../queue/index.ts";
import { messageById } from "./rows.ts";
import { release } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { DrawId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { moveMessage } from "./move.ts";
import { sendJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/** Queues a scheduled message whose time has come. One that was edited to a later time waits on. */
export async function releaseMessage(
  tx: Tx,
  claim: Claim<"release">,
  drawId: DrawId,
): Promise<void> {
  const message = await tx.get(messageById, [claim.key.message_id]);
  if (message?.status !== "scheduled") return finish(tx, claim);

  const decision = release(stateOf(message), tx.now);
  if (decision.decision === "none") {
    await finish(tx, claim, { againAt: message.send_at ?? tx.now });
    return;
  }
  const moved = await moveMessage(tx, drawId, message, decision.state);
  writeTimeline(tx, drawId, message, moved, null);
  await arm(tx, sendJob(moved, tx.now));
  await finish(tx, claim);
}
