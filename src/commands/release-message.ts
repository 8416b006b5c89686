import { arm, finish } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { messageById } from "../domain/messages/rows.ts";
import { release } from "../domain/messages/rules.ts";
import { stateOf } from "../domain/messages/state.ts";
import type { DrawId } from "../ids.ts";
import type { Tx } from "../transactions/transaction.ts";
import { actorOf } from "./steps/append-event.ts";
import { moveMessage } from "./steps/move-message.ts";
import { sendJob } from "./steps/send-jobs.ts";
import { writeTimeline } from "./steps/write-timeline.ts";

/** Queues a scheduled message whose time has come. One that was edited to a later time waits on. */
export async function releaseMessage(tx: Tx, claim: Claim, drawId: DrawId): Promise<void> {
  const { account_id, mode, key } = claim;
  const message = account_id && mode && (await tx.get(messageById, [account_id, mode, key]));
  if (!message || message.status !== "scheduled") return finish(tx, claim);

  const decision = release(stateOf(message), tx.now);
  if (decision.decision === "none") {
    await finish(tx, claim, { againAt: message.send_at ?? tx.now });
    return;
  }
  const actor = actorOf(message, drawId);
  const moved = await moveMessage(tx, actor, message, decision.state);
  writeTimeline(tx, actor, message, moved, null);
  await arm(tx, sendJob(moved, tx.now));
  await finish(tx, claim);
}
