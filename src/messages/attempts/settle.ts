/**
 * Stores what becomes known of an attempt, and gives the message the state that follows from all of
 * its attempts. Every answer, receipt and look-up takes this path.
 */
import type { Services } from "../../operations/index.ts";
import { StorageConflict, type Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { followUpJob, sendJob } from "../job-orders.ts";
import {
  attempts,
  attemptsOfMessage,
  messages,
  type AttemptRow,
  type MessageRow,
} from "../rows.ts";
import type { Expired, Failed } from "../rules.ts";
import { stateColumns } from "../stored-state.ts";
import { writeState, writeTimeline } from "../write-state.ts";
import { listAttempts, type MessageAndAttempt } from "./attempts.ts";
import { answerLost, type Reported } from "./carrier-reports.ts";
import { firstFollowUpAt } from "./follow-up-times.ts";
import { nextAttempt } from "./next-attempt.ts";
import { endingOf, outcomeOf, type Outcome } from "./outcome.ts";

/** Settles a message after the answer to an attempt, or after that answer was lost. */
export async function settleAnswer(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  reported: Reported,
): Promise<MessageAndAttempt> {
  // The answer counted as lost, and the attempt has its place in the timeline for that. What the
  // late answer changes gets an entry of its own.
  const isLate = pair.attempt.answered_at !== null;
  if (!isLate) return settle(tx, services, pair, { ...reported, answered_at: tx.now });
  const settled = await settle(tx, services, pair, reported);
  if (settled.message.status !== pair.message.status) {
    writeTimeline(tx, pair.message, settled.message, null);
  }
  return settled;
}

/** Stores the changed columns of an attempt, and settles its message. */
export async function settle(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  columns: Reported & Partial<Pick<AttemptRow, "answered_at">>,
): Promise<MessageAndAttempt> {
  const { message: before, attempt } = pair;
  const changed = { ...attempt, ...columns };
  const stored = before.attempts > 1 ? await listAttempts(tx, before) : [];
  const others = stored.filter(({ id }) => id !== attempt.id);
  const made = [...others, changed].toSorted((a, b) => a.number - b.number);
  const last = made.at(-1) ?? changed;
  // Whoever canceled the message knew what was proved then. Only a new proof changes its status.
  const isNewProof = changed.evidence?.status !== attempt.evidence?.status;
  const outcome =
    before.status === "canceled" && !isNewProof
      ? undefined
      : outcomeOf(before, made, tx.now, () => nextAttempt(services, before, made, last, tx.now));
  const after = outcome && (await writeIfNew(tx, before, outcome));
  if (after === undefined && !differs(attempt, columns)) return pair;
  // The outcome depends on all attempts, but each command writes only its own. It also writes the
  // message, even without a change, so that two such commands conflict, and one of them runs again.
  const message = after ?? tx.touch(messages, before);

  const isFirstAnswer = attempt.answered_at === null && changed.answered_at !== null;
  const planned = message.status === "queued" && { next_attempt_at: message.retry_at };
  const written = tx.update(attempts, attempt, {
    ...columns,
    ...(isFirstAnswer && {
      answer_id: tx.drawId("ent"),
      answer_version: message.version,
      led_to: message.status === before.status ? null : message.status,
    }),
    ...(last === changed && planned),
  });
  // The last attempt stores when the next one is due, also if the report is about another attempt.
  const lastOther = others.find((each) => each === last);
  if (lastOther !== undefined && planned) tx.update(attempts, lastOther, planned);

  // A message in the outbox needs the job of its conversation. The job may be gone: its claim was
  // lost, or it ended while a receipt had taken the message out of the outbox.
  const isUnderway = message.status === "sending" && before.status !== "sending";
  if (message.status === "queued" || isUnderway) {
    await arm(tx, sendJob(message, message.retry_at ?? tx.now));
  }
  const isMoved = message.status !== before.status || message.basis !== before.basis;
  if (isMoved) {
    await armFollowUps(tx, services, message, [...others, written]);
  } else if (written.outcome !== attempt.outcome) {
    await armFollowUps(tx, services, message, [written]);
  }
  return { message, attempt: written };
}

/** Writes an outcome. Returns undefined if the message has it already. */
function writeIfNew(
  tx: Tx,
  message: Seen<MessageRow>,
  { state, columns }: Outcome,
): Promise<Seen<MessageRow>> | undefined {
  const isNew =
    state.status !== message.status || differs(message, { ...columns, ...stateColumns(state) });
  return isNew ? writeState(tx, message, state, columns) : undefined;
}

/** Whether a column of a row has another value. */
function differs<R extends object>(row: R, columns: Partial<R>): boolean {
  return Object.entries(columns).some(([name, value]) => {
    const stored: unknown = Reflect.get(row, name);
    return stored !== value && JSON.stringify(stored) !== JSON.stringify(value);
  });
}

/** Schedules the follow-ups that attempts need with the present status of their message. */
async function armFollowUps(
  tx: Tx,
  { factsByTransport }: Services,
  message: MessageRow,
  made: readonly AttemptRow[],
): Promise<void> {
  for (const attempt of made) {
    const at = firstFollowUpAt(attempt, message, factsByTransport, tx.now);
    if (at !== undefined) await arm(tx, followUpJob(attempt, at));
  }
}

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
  // An erasure may have removed both rows between the two reads. The command then runs again.
  if (attempt === undefined) {
    throw new StorageConflict(`message ${message.id} has status sending but no attempt`);
  }
  const isLost = { outcome: "ambiguous", error: answerLost } as const;
  const settled = await settleAnswer(tx, services, { message, attempt }, isLost);
  return settled.message;
}

/**
 * Ends a queued message that is denied or has expired. An attempt that may have sent it, or was
 * given up by its carrier, decides instead.
 */
export async function endQueued(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  ending: Expired | Failed,
): Promise<Seen<MessageRow>> {
  const made = await listAttempts(tx, message);
  const { state, columns } = endingOf(message, made, ending);
  const ended = await writeState(tx, message, state, columns);
  await armFollowUps(tx, services, ended, made);
  return ended;
}
