import type { GenerateId } from "../../kernel/index.ts";
import { arm, type Claim, finish, prefetchJob } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { rememberNextAttempt } from "../hand-over/begin-attempt.ts";
import { sendJob } from "../job-orders.ts";
import { moveAndRecord } from "../move.ts";
import { messageById, scheduledInConversation } from "../rows.ts";
import { release } from "../rules.ts";
import { stateOf } from "../stored-state.ts";

/** The maximum number of messages that one transaction queues. */
const maxReleased = 50;

/**
 * Queues a scheduled message that is due, after those before it in its conversation. A message
 * edited to a later time keeps waiting.
 *
 * Quiet hours and callers schedule many messages for one time. Each has a job of its own, and
 * several engines run these at once, so a later message would otherwise be queued first.
 */
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
  const first = await tx.list(scheduledInConversation, [conversation_id], maxReleased);
  const last = first.findIndex(({ id }) => id === message.id);
  for (const each of last === -1 ? first : first.slice(0, last + 1)) {
    const decision = release(stateOf(each), tx.now);
    if (decision.decision === "none") continue;
    const updated = await moveAndRecord(tx, drawId, each, decision.state);
    rememberNextAttempt(tx, updated);
    await arm(tx, sendJob(updated, tx.now));
  }
  // If more are before the message, the job continues at once.
  await finish(tx, claim, last === -1 ? { againAt: tx.now } : {});
}
