import type { Services } from "../../operations/index.ts";
import { StorageConflict, type Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { applyLostAnswer, sendAgain } from "../attempts/attempt-rules.ts";
import { reachedCarrier } from "../attempts/message-attempts.ts";
import { findNextAttempt } from "../attempts/next-attempt.ts";
import type { Evidence } from "../carrier-state.ts";
import { followUpJob } from "../job-orders.ts";
import { attemptsOfMessage, type MessageRow } from "../rows.ts";
import { applyEvidence } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { writeStateAndTimeline } from "../write-state.ts";
import { recordOutcome } from "./record-outcome.ts";

/**
 * Records that the answer to a message's last attempt is lost. The caller holds the claim, so the
 * engine that made the attempt has stopped or stalled.
 */
export async function recordLostAnswer(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
): Promise<Seen<MessageRow>> {
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  // The reads of a command may be from different moments, and an erasure removes both rows.
  if (attempt === undefined) {
    throw new StorageConflict(`message ${message.id} has status sending but no attempt`);
  }
  const decision = applyLostAnswer(stateOf(message), attempt.number);
  if (decision.decision === "none") {
    throw new TypeError(
      `message ${message.id} has status ${message.status} and waits for no answer`,
    );
  }
  if (reachedCarrier(attempt)) {
    // Proof outranks a lost answer, so the message gets the status that the proof gives it.
    const { started_at: at, reported_error: error } = attempt;
    const evidence: Evidence =
      error === null ? { status: "sent", at, error } : { status: "undelivered", at, error };
    const { state } = applyEvidence(stateOf(message), evidence);
    await arm(tx, followUpJob(attempt, tx.now));
    return writeStateAndTimeline(tx, message, state);
  }
  const columns = { outcome: "ambiguous", error: decision.state.error, not_before: null } as const;
  const found = await findNextAttempt(tx, services, message, { ...attempt, ...columns });
  const next = found === "none" ? undefined : found;
  const state = next === undefined ? decision.state : sendAgain(decision.state, next.at).state;
  const outcome = { columns, state, next };
  const recorded = await recordOutcome(tx, services, { message, attempt }, outcome);
  return recorded.message;
}
