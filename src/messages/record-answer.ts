import { arm, type Claim, finish } from "../queue/index.ts";
import { attemptById, type AttemptRow, messageById, outbox } from "./rows.ts";
import { answered, askedFor, carrierError, type MessageState, nothing } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { Services } from "../operations/index.ts";
import type { SendAnswer } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { applyParked } from "./apply-receipt.ts";
import type { Carriers } from "./carriers.ts";
import { isGivenUp } from "./fall-back.ts";
import { findNext, type Setback } from "./choose-route.ts";
import { heedRefusal } from "./apply-refusal.ts";
import { providerIdFor } from "./provider-id.ts";
import { sendJob } from "./send-jobs.ts";
import { type HandedOver, settleAttempt } from "./settle-attempt.ts";

/**
 * Records what the carrier answered. It is the truth about the far side however late it comes, so it is recorded also when the
 * claim was lost meanwhile. With nothing more in the outbox the job is finished in the same transaction; answers whether there is more.
 */
export async function recordAnswer(
  tx: Tx,
  claim: Claim<"send">,
  { message: { id }, attempt: { id: attempt_id } }: HandedOver,
  answer: SendAnswer,
  services: Services,
  carriers: Carriers,
): Promise<boolean> {
  const message = await tx.get(messageById, [id]);
  const attempt = await tx.get(attemptById, [attempt_id]);
  // The account's sandbox may have been reset while the carrier was at it.
  if (message === undefined || attempt === undefined) {
    await finish(tx, claim);
    return false;
  }

  const { drawId } = services;
  const receipts = carriers.get(attempt.transport)?.receipts;
  const accepted = receipts === "none" ? "delivered" : "sent";
  const before = stateOf(message);
  const outcome = await outcomeOf(tx, attempt, answer);
  const next =
    outcome.outcome === "accepted"
      ? undefined
      : await findNext(tx, services, message, attempt, outcome);
  const decision = isGivenUp(attempt)
    ? nothing
    : answered(before, attempt.number, answer, tx.now, accepted, next);
  const state: MessageState = decision.decision === "none" ? before : decision.state;
  const goesOn = decision.decision === "retry" ? next : undefined;
  const moved = await settleAttempt(tx, drawId, carriers, message, attempt, state, outcome, goesOn);
  const settled = await applyParked(tx, services, moved, { ...attempt, ...outcome });
  await heedRefusal(tx, services, message, settled);
  // Under a lost claim nobody else may be left to send it again.
  if (moved.status === "queued") await arm(tx, sendJob(moved, moved.retry_at ?? tx.now));
  const [waiting] = await tx.list(outbox, [claim.key.conversation_id], 1);
  if (waiting === undefined) await finish(tx, claim);
  return waiting !== undefined;
}

async function outcomeOf(
  tx: Tx,
  attempt: AttemptRow,
  answer: SendAnswer,
): Promise<Setback & Pick<AttemptRow, "provider_message_id">> {
  const { outcome } = answer;
  const unnamed = { not_before: null, provider_message_id: null };
  if (outcome === "ambiguous") {
    return { ...unnamed, outcome, error: carrierError(answer.error, false) };
  }
  if (outcome === "rejected") {
    const error = carrierError(answer.error, answer.permanent);
    // Recorded again, after a commit that nobody was told of, it doesn't ask for more time.
    const not_before = attempt.not_before ?? askedFor(answer.retry_after_ms, tx.now);
    return { ...unnamed, outcome, error, not_before };
  }
  // Why it was given up stays.
  const error = isGivenUp(attempt) ? attempt.error : null;
  return {
    ...unnamed,
    outcome,
    error,
    provider_message_id: await providerIdFor(tx, attempt, answer.provider_message_id),
  };
}
