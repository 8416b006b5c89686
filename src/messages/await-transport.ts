import type { Carriers } from "./carriers.ts";
import { moveMessage } from "./move.ts";
import { writeTimeline } from "./write-timeline.ts";
import { type Claim, finish, leaseMs, renew } from "../queue/index.ts";
import { type MessageRow, outbox } from "./rows.ts";
import { expire } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { DrawId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** How long a job for a transport that is not set up here is left to engines that have it, in milliseconds. */
export const awaitMs = 30_000;
/** Messages that are read at once. */
const maxRead = 50;

/**
 * Gives the job back when the conversation's next message is for a transport that this engine does not have. No attempt begins
 * and none counts as lost; messages whose time is over expire. Returns whether it did; if not, nothing was written.
 */
export async function awaitTransport(
  tx: Tx,
  claim: Claim<"send">,
  carriers: Carriers,
  drawId: DrawId,
): Promise<boolean> {
  const isLive = ({ status, expires_at }: MessageRow): boolean =>
    status === "sending" || (expires_at ?? Infinity) > tx.now;
  const isOurs = ({ transport }: MessageRow): boolean =>
    transport === null || carriers.has(transport);
  const [head] = await tx.list(outbox, [claim.key.conversation_id], 1);
  if (head === undefined || (isLive(head) && isOurs(head))) return false;
  const waiting = await tx.list(outbox, [claim.key.conversation_id], maxRead);
  const next = waiting.find(isLive);
  if (next === undefined || isOurs(next) || !(await renew(tx, claim, leaseMs))) return false;

  let againAt = tx.now + awaitMs;
  for (const message of waiting) {
    const decision = expire(stateOf(message), tx.now);
    if (decision.decision === "expired") {
      writeTimeline(
        tx,
        drawId,
        message,
        await moveMessage(tx, drawId, message, decision.state),
        null,
      );
    } else if (message.status === "queued") {
      againAt = Math.min(againAt, message.expires_at ?? Infinity);
    }
  }
  await finish(tx, claim, { againAt });
  return true;
}
