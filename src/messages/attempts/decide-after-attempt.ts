/**
 * What the result of an attempt means for its message, with its route and its other attempts. The
 * pure rules are in `attempt-rules.ts`.
 */
import type { Services } from "../../operations/index.ts";
import type { RejectedAnswer, SendAnswer } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import type { NextAttempt } from "../routes/route-rules.ts";
import { attemptsOfMessage, type AttemptRow, type MessageRow } from "../rows.ts";
import { isWaiting, type MessageState } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { applyAnswer, applyLateRefusal, applyNotSent, type AfterAttempt } from "./attempt-rules.ts";
import { checkLostAttempts } from "./lost-attempts.ts";
import {
  dependsOn,
  hasGoneOnWithout,
  isMessageRefused,
  type MessageAndAttempt,
} from "./message-attempts.ts";
import { findNextAttempt } from "./next-attempt.ts";

/** What a message becomes. */
interface Decided {
  readonly state: MessageState;
  /** The next attempt. Undefined if there is none or the message stays with its transport. */
  readonly next: NextAttempt | undefined;
}

function decided(after: AfterAttempt, next: NextAttempt | undefined): Decided | undefined {
  if (after.decision === "none") return undefined;
  return { state: after.state, next: after.decision === "retry" ? next : undefined };
}

/** Returns the status that acceptance proves: `delivered` if the transport has no receipts. */
export function acceptedStatus(
  { factsByTransport }: Services,
  { transport }: Pick<AttemptRow, "transport">,
): "sent" | "delivered" {
  return factsByTransport.get(transport)?.receipts === "none" ? "delivered" : "sent";
}

/** The columns of an attempt that store the carrier's answer. */
export type AnswerColumns = Pick<AttemptRow, "outcome" | "error" | "not_before">;

interface StoredAnswer {
  readonly answer: SendAnswer;
  readonly columns: AnswerColumns;
}

/** Decides what a carrier's answer means for the message. Undefined if it changes nothing. */
export async function decideAfterAnswer(
  tx: Tx,
  services: Services,
  { message, attempt }: MessageAndAttempt,
  { answer, columns }: StoredAnswer,
): Promise<Decided | undefined> {
  if (hasGoneOnWithout(message, attempt)) return undefined;
  const { number } = attempt;
  if (answer.outcome === "rejected") {
    const refused = { ...attempt, ...columns };
    if (isWaiting(message)) {
      // A commit can be retried after it succeeded unnoticed. The delay must not grow then.
      const isStored =
        attempt.outcome === "rejected" && attempt.error?.code === columns.error?.code;
      return isStored ? undefined : decideAfterLateRefusal(tx, services, message, refused, answer);
    }
    if (number < message.attempts) return decideAfterNotSent(tx, services, message, refused);
  }
  const next =
    answer.outcome === "accepted"
      ? undefined
      : await findNextAttempt(tx, services, message, {
          ...attempt,
          ...columns,
          answered_at: tx.now,
        });
  const accepted = acceptedStatus(services, attempt);
  const after = applyAnswer(stateOf(message), { number, answer, accepted, next }, tx.now);
  return decided(await checkLostAttempts(tx, message, after, attempt), next);
}

/**
 * Decides about a message that was queued again, because the answer to an attempt counted as lost,
 * after the carrier has refused that attempt. `refused` has its new outcome, which need not be
 * stored yet. Undefined if the plan for the next attempt stands: it is over another transport, and
 * the carrier did not refuse the message itself.
 */
async function decideAfterLateRefusal(
  tx: Tx,
  services: Services,
  message: MessageRow,
  refused: AttemptRow,
  answer: RejectedAnswer,
): Promise<Decided | undefined> {
  if (!isMessageRefused(refused) && !dependsOn(message, refused)) return undefined;
  const isLast = refused.number === message.attempts;
  const failed = isLast
    ? { ...refused, answered_at: tx.now }
    : await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (failed === undefined) return undefined;
  const next = await findNextAttempt(tx, services, message, failed, refused);
  const after = applyLateRefusal(stateOf(message), { answer, isLast, next }, tx.now);
  return decided(await checkLostAttempts(tx, message, after, refused), next);
}

/**
 * Decides about an ambiguous message after it is certain that an attempt sent nothing. If the
 * carriers of later attempts refused the message, the last refusal decides. The message stays
 * ambiguous if yet another attempt may have sent it. `attempt` has its new outcome, which need not
 * be stored yet. Undefined if nothing changes.
 */
export async function decideAfterNotSent(
  tx: Tx,
  services: Services,
  message: MessageRow,
  attempt: AttemptRow,
): Promise<Decided | undefined> {
  const state = stateOf(message);
  const { number } = attempt;
  if (number === message.attempts) {
    // An attempt that was certainly not sent equals a temporary refusal.
    const refused = { ...attempt, outcome: "rejected", error: null, not_before: null } as const;
    const next = await findNextAttempt(tx, services, message, refused);
    const after = applyNotSent(state, { number, next }, tx.now);
    return decided(await checkLostAttempts(tx, message, after, attempt), next);
  }
  const last = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (last?.outcome !== "rejected") return undefined;
  // The refusal was final, unless the route now has another transport to try.
  const next = (await findNextAttempt(tx, services, message, last, attempt)) ?? "none";
  const ofLast = { number: last.number, next, refusal: last.error };
  const after = applyNotSent(state, ofLast, tx.now);
  return decided(await checkLostAttempts(tx, message, after, attempt), next);
}
