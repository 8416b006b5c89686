import type { GenerateId } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm, type Claim, finish, prefetchJob } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { rememberHandOver } from "../hand-over/hand-over.ts";
import { sendJob } from "../job-orders.ts";
import { moveAndRecord } from "../move.ts";
import { messageById, type MessageRow, scheduledInConversation } from "../rows.ts";
import { release } from "../rules.ts";
import { stateOf } from "../stored-state.ts";

/** The maximum number of scheduled messages that are read, those first that are due first. */
const maxRead = 50;

/** Queues a scheduled message that is due. A message edited to a later time keeps waiting. */
export async function releaseMessage(
  tx: Tx,
  claim: Claim<"release">,
  drawId: GenerateId,
): Promise<void> {
  const message = await tx.get(messageById, [claim.key.message_id]);
  if (message?.status !== "scheduled") return finish(tx, claim);

  if (release(stateOf(message), tx.now).decision === "none") {
    await finish(tx, claim, { againAt: message.send_at ?? tx.now });
    return;
  }
  const { conversation_id } = message;
  prefetchJob(tx, { kind: "send", key: { conversation_id } });
  for (const each of [...(await findEarlier(tx, message)), message]) {
    const decision = release(stateOf(each), tx.now);
    if (decision.decision === "none") continue;
    const updated = await moveAndRecord(tx, drawId, each, decision.state);
    rememberHandOver(tx, updated);
    await arm(tx, sendJob(updated, tx.now));
  }
  await finish(tx, claim);
}

/**
 * Returns the messages before a scheduled one in its conversation that are due at the same time or
 * earlier, in order. Quiet hours and callers schedule many messages for one time. Each has a job of
 * its own, and several engines run these at once, so a later message could be queued first.
 */
async function findEarlier(tx: Tx, message: MessageRow): Promise<readonly Seen<MessageRow>[]> {
  const all = await tx.list(scheduledInConversation, [message.conversation_id], maxRead);
  return all.filter(({ sequence, send_at }) => {
    return sequence < message.sequence && (send_at ?? 0) <= (message.send_at ?? 0);
  });
}
