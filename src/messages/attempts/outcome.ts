/**
 * The outcome of a message: the state that follows from all of its attempts. An answer, a receipt
 * or a look-up changes one attempt, and then the outcome is computed anew. So neither the order nor
 * the repetition of what carriers report matters.
 */
import type { NextAttempt, PlannedAttempt } from "../routes/route-rules.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import {
  endOf,
  expiredState,
  isArrived,
  type Expired,
  type Failed,
  type NewState,
} from "../rules.ts";
import { answerLost } from "./carrier-reports.ts";
import { merge, rank, type CarrierState } from "./evidence.ts";

/** The new state of a message. */
export interface Outcome {
  readonly state: NewState;
  /** The columns that name the carrier of the message. */
  readonly columns: Partial<MessageRow>;
}

/**
 * Returns the outcome of a message with these attempts, oldest first. The first of these that
 * applies decides:
 * 1. Of the attempts that carriers have and have not given up, the one with the highest status. Of
 *    several with the same status, the last one.
 * 2. The last attempt, while its call goes on.
 * 3. The next attempt, if there is one within the time to live.
 * 4. The last attempt whose answer is lost: it may have been sent.
 * 5. The last attempt that its carrier gave up.
 * 6. The refusal of the last attempt.
 *
 * A message that has ended is not sent again: only 1 and 5 apply. Returns undefined if it stays as
 * it is. `plan` returns the next attempt after the last one.
 */
export function outcomeOf(
  message: MessageRow,
  made: readonly AttemptRow[],
  now: number,
  plan: () => NextAttempt,
): Outcome | undefined {
  const deciding = findAccepted(made);
  if (deciding !== undefined) return provenBy(deciding, made);
  if (endOf(message.status, message.ended_as) !== null) {
    const givenUp = made.findLast(isGivenUp);
    return givenUp && provenBy(givenUp, made);
  }
  const last = made.at(-1);
  if (last?.outcome === "pending") return sending(message, last);
  const next = plan();
  if (next === "none") {
    return endingOf(message, made, { status: "failed", error: last?.error ?? answerLost });
  }
  return next.at < (message.expires_at ?? Infinity)
    ? waiting(message, next, now)
    : endingOf(message, made, expiredState);
}

/**
 * Returns the outcome of a message that is not sent again. It ends with `ending`, unless a carrier
 * may have it or has had it.
 */
export function endingOf(
  message: MessageRow,
  made: readonly AttemptRow[],
  ending: Expired | Failed,
): Outcome {
  const unanswered = made.findLast(({ outcome }) => outcome === "ambiguous");
  if (unanswered !== undefined) return lost(message, unanswered);
  const givenUp = made.findLast(isGivenUp);
  return givenUp === undefined ? { state: ending, columns: {} } : provenBy(givenUp, made);
}

/** An attempt with proof that its carrier has or had the message. */
type Proven = AttemptRow & { readonly evidence: CarrierState };

const isProven = (attempt: AttemptRow): attempt is Proven => attempt.evidence !== null;

const isGivenUp = (attempt: AttemptRow): attempt is Proven =>
  attempt.evidence?.status === "undelivered";

/** Returns the attempt with the highest status among those that carriers have not given up. */
function findAccepted(made: readonly AttemptRow[]): Proven | undefined {
  const [first] = made
    .filter(isProven)
    .filter(({ evidence }) => evidence.status !== "undelivered")
    .toSorted((a, b) => rank[b.evidence.status] - rank[a.evidence.status] || b.number - a.number);
  return first;
}

/**
 * The message has the status that an attempt proves, and the attempt's times. Once it has arrived,
 * its times are the earliest of all attempts.
 */
function provenBy(deciding: Proven, made: readonly AttemptRow[]): Outcome {
  const { evidence, number: basis } = deciding;
  const state = isArrived(evidence.status)
    ? made.filter(isProven).reduce((known, each) => merge(known, each.evidence), evidence)
    : evidence;
  return { state, columns: { ...carrierOf(deciding), basis } };
}

/** The columns of a message that no carrier is known to have. */
const unproven = { basis: null, sent_at: null, delivered_at: null, read_at: null } as const;

function sending({ expires_at, attempts }: MessageRow, last: AttemptRow): Outcome {
  return {
    state: { status: "sending", expires_at: expires_at ?? Infinity, attempts },
    columns: { ...carrierOf(last), ...unproven },
  };
}

/** The message waits for its next attempt. A deferral that does not end before goes on. */
function waiting(message: MessageRow, next: PlannedAttempt, now: number): Outcome {
  const { status, send_at, retry_at, attempts } = message;
  const expires_at = message.expires_at ?? Infinity;
  const columns = { transport: next.transport, provider_message_id: null, ...unproven };
  if (status === "scheduled" && send_at !== null && next.at <= send_at) {
    return { state: { status, send_at, expires_at, attempts }, columns };
  }
  // The time that was planned before stays, unless a carrier asks for a later one.
  const isPlanned =
    status === "queued" && retry_at !== null && next.transport === message.transport;
  const due_at = isPlanned && next.at <= Math.max(retry_at, now) ? retry_at : next.at;
  return { state: { status: "queued", due_at, expires_at, attempts }, columns };
}

/** The message may have been sent, and only a look-up or a receipt can tell. */
function lost({ expires_at, attempts }: MessageRow, attempt: AttemptRow): Outcome {
  const error = attempt.error ?? answerLost;
  return {
    state: { status: "ambiguous", expires_at: expires_at ?? Infinity, attempts, error },
    columns: { ...carrierOf(attempt), ...unproven },
  };
}

function carrierOf({
  transport,
  provider_message_id,
}: AttemptRow): Pick<MessageRow, "transport" | "provider_message_id"> {
  return { transport, provider_message_id };
}
