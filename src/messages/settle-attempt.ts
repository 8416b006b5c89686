import type { DrawId } from "../kernel/index.ts";
import { arm } from "../queue/index.ts";
import { type AttemptRow, attempts, type MessageRow } from "./rows.ts";
import type { MessageState } from "./rules.ts";
import type { Next } from "./route-types.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { Carriers } from "./carriers.ts";
import { isGivenUp } from "./fall-back.ts";
import { handedOn } from "./choose-route.ts";
import { firstLookAt } from "./follow-up.ts";
import { moveMessage } from "./move.ts";
import { followUpJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/** A message whose hand-over is committed; the carrier is to be called with it. */
export interface HandedOver {
  readonly message: Seen<MessageRow>;
  readonly attempt: Seen<AttemptRow>;
}

/** Records what became of an attempt, moves its message, on to `next` where there is one, and sees that somebody looks after it where more is to come. */
export async function settleAttempt(
  tx: Tx,
  drawId: DrawId,
  carriers: Carriers,
  message: Seen<MessageRow>,
  attempt: Seen<AttemptRow>,
  state: MessageState,
  answer: Pick<AttemptRow, "outcome"> & Partial<AttemptRow>,
  next?: Next,
): Promise<Seen<MessageRow>> {
  // A look-up may have found what the answer doesn't know: what is proven stays.
  const isKnown = attempt.outcome === "accepted" && answer.outcome !== "accepted";
  if (isKnown) return message;
  const provider_message_id = answer.provider_message_id ?? attempt.provider_message_id;
  const { transport } = attempt;
  // The message may be with another one, and this a late answer that changes nothing.
  const isCarrier =
    provider_message_id !== null &&
    (transport === message.transport || state.status !== message.status);
  const named = isCarrier ? { transport, provider_message_id } : {};
  const moved = await moveMessage(tx, drawId, message, state, {
    ...named,
    ...handedOn(message, next),
  });
  const led_to = moved.status === message.status ? null : moved.status;
  // An attempt that was taken for lost keeps what that led to; what a late answer leads to is told beside it.
  const isLate = attempt.answered_at !== null;
  if (isLate && led_to !== null) writeTimeline(tx, drawId, message, moved, null);
  const nextAt = moved.status === "queued" ? moved.retry_at : null;
  const answered = tx.update(attempts, attempt, {
    ...answer,
    provider_message_id,
    ...(isLate
      ? {}
      : {
          answered_at: tx.now,
          answer_id: drawId("ent"),
          answer_version: moved.version,
          led_to,
        }),
    next_attempt_at: isGivenUp(attempt) ? attempt.next_attempt_at : nextAt,
  });
  const look = firstLookAt(answered, moved, carriers, tx.now);
  if (look !== undefined) await arm(tx, followUpJob(answered, look));
  return moved;
}
