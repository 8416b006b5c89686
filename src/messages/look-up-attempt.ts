import { withDeadline, type GenerateId, iso } from "../kernel/index.ts";
import { finish, type JobHandler, arm, type Claim } from "../queue/index.ts";
import { attemptById, type AttemptRow, messageById, type MessageRow, attempts } from "./rows.ts";
import type { LookupAnswer, Transport, Seen } from "../ports/index.ts";
import { maxAbsenceMs, needsFollowUp, nextFollowUpAt, receiptsEndAt } from "./follow-up-times.ts";
import { waitForTransportMs } from "./hand-over.ts";
import { callDeadlineMs, outbound, transportFor } from "./call-carrier.ts";
import { decideAfterNotSent } from "./decide-after-attempt.ts";
import { applyReceiptTimeout } from "./rules.ts";
import { moveAndRecord, moveMessage, writeTimeline } from "./move.ts";
import { stateOf } from "./stored-state.ts";
import type { Runtime, Services } from "../operations/index.ts";
import { background, type Reads, type Tx } from "../store/index.ts";
import { checkLookupAnswer } from "./transport-results.ts";
import { applyEarlyReceipts, applyReceipts, joinEvidence, providerIdFor } from "./apply-receipt.ts";
import { transportPatch } from "./choose-route.ts";
import { type Finding, hasRival, identify } from "./identify-attempt.ts";
import { isDecidingAttempt, isLeftBehind, type Reported } from "./deciding-attempt.ts";
import { sendJob } from "./jobs.ts";

/** Looks up an attempt whose answer was lost or whose receipts have not come. */
export function lookUpAttempt(runtime: Runtime): JobHandler<"follow-up"> {
  const { store, services, transports } = runtime;
  return async (claim, { abort }) => {
    const reads = store.reads(claim);
    const attempt = await reads.get(attemptById, [claim.key.attempt_id]);
    const message = attempt && (await reads.get(messageById, [attempt.message_id]));
    const transport = attempt && transportFor(transports, attempt);
    if (attempt !== undefined && transport === undefined) {
      return store.commit(claim, (tx) => leaveToOthers(tx, claim, services.drawId), background);
    }
    const answer =
      attempt === undefined || message === undefined || !transport?.lookup
        ? unknown
        : await lookUp(runtime, reads, transport, message, attempt, abort);
    // The job runs again after its lease ends.
    if (answer === "aborted") return;
    await store.commit(claim, (tx) => recordLookup(tx, claim, answer, services), background);
  };
}

const unknown: LookupAnswer = { outcome: "unknown" };

/**
 * Looks up an attempt. The result is `unknown` if another attempt may own what the carrier lists.
 */
async function lookUp(
  runtime: Runtime,
  reads: Reads,
  transport: Transport,
  message: MessageRow,
  attempt: AttemptRow,
  abort: AbortSignal,
): Promise<LookupAnswer | "aborted"> {
  const answer = await askCarrier(runtime, transport, message, attempt, abort);
  if (answer === "aborted" || answer.outcome !== "alike") return answer;
  return (await hasRival(reads, message, attempt)) ? unknown : answer;
}

async function askCarrier(
  { clock, logger }: Runtime,
  transport: Transport,
  message: MessageRow,
  attempt: AttemptRow,
  abort: AbortSignal,
): Promise<LookupAnswer | "aborted"> {
  const { id: attempt_id, number, started_at, provider_message_id } = attempt;
  const subject = { attempt_id, number, started_at, provider_message_id };
  try {
    return await withDeadline(
      clock,
      callDeadlineMs,
      async () => {
        if (!transport.lookup) return unknown;
        const answer: unknown = await transport.lookup(outbound(message), subject);
        checkLookupAnswer(transport.name, answer);
        return answer;
      },
      () => unknown,
      abort,
    );
  } catch (error) {
    if (abort.aborted) return "aborted";
    logger.warn(
      { err: error, transport: transport.name, attempt_id },
      "a look-up of an attempt failed; it counts as unknown and is repeated",
    );
    return unknown;
  }
}

/**
 * Records the result of a look-up, ends the wait for receipts if it is over, and schedules the next
 * look-up. The result is `unknown` if the transport cannot look up attempts.
 */
async function recordLookup(
  tx: Tx,
  claim: Claim<"follow-up">,
  answer: LookupAnswer,
  services: Services,
): Promise<void> {
  const attempt = await tx.get(attemptById, [claim.key.attempt_id]);
  const message = attempt && (await tx.get(messageById, [attempt.message_id], { hold: true }));
  // The account's sandbox may have been reset meanwhile.
  if (attempt === undefined || message === undefined) return finish(tx, claim);

  const { drawId, factsByTransport } = services;
  const finding = await identify(tx, attempt, answer);
  const provider_message_id =
    finding.outcome === "sent"
      ? await providerIdFor(tx, attempt, finding.provider_message_id)
      : attempt.provider_message_id;
  const outcome = outcomeOf(attempt, finding);
  const attemptAfter = tx.update(attempts, attempt, {
    lookups: attempt.lookups + 1,
    outcome,
    provider_message_id,
  });
  const before = { message, attempt: attemptAfter };
  let updated = await applyFinding(tx, services, before, finding);
  if (finding.outcome === "sent") {
    const reported = { message: updated, attempt: attemptAfter };
    const withReceipts = await applyReceipts(tx, services, reported, finding.receipts);
    ({ message: updated } = await applyEarlyReceipts(tx, services, withReceipts));
  }
  if (waitsForOther(updated, attemptAfter)) return finish(tx, claim);
  updated = await endReceiptWait(
    tx,
    drawId,
    updated,
    receiptsEndAt(attemptAfter, factsByTransport),
  );

  const again = nextFollowUpAt(attemptAfter, updated.status, factsByTransport, tx.now);
  await finish(tx, claim, again === undefined ? {} : { againAt: Math.max(again, tx.now + 1) });
}

/**
 * Returns the outcome of an attempt after a look-up. A lost attempt that was certainly not sent
 * counts as rejected, also in later route decisions.
 */
function outcomeOf({ outcome }: AttemptRow, finding: Finding): AttemptRow["outcome"] {
  if (finding.outcome === "sent") return outcome === "undelivered" ? outcome : "accepted";
  return finding.outcome === "not_sent" && outcome === "ambiguous" ? "rejected" : outcome;
}

/** Applies what a look-up found to the message, and writes it to the timeline. */
async function applyFinding(
  tx: Tx,
  services: Services,
  reported: Reported,
  finding: Finding,
): Promise<Seen<MessageRow>> {
  const { message, attempt } = reported;
  const { drawId, factsByTransport } = services;
  let updated = message;
  if (finding.outcome === "sent") {
    const status =
      factsByTransport.get(attempt.transport)?.receipts === "none" ? "delivered" : "sent";
    const evidence = { status, at: attempt.started_at, error: null } as const;
    const wasLeftBehind = isLeftBehind(message, attempt);
    ({ message: updated } = await joinEvidence(tx, services, reported, evidence, wasLeftBehind));
  } else if (finding.outcome === "not_sent") {
    const decided = await decideAfterNotSent(tx, services, message, attempt);
    if (decided !== undefined) {
      const patch = transportPatch(message, decided.next);
      updated = await moveMessage(tx, drawId, message, decided.state, patch);
      // The message is sent again.
      if (updated.status === "queued") await arm(tx, sendJob(updated, updated.retry_at ?? tx.now));
    }
  }
  const entry = {
    type: "lookup",
    at: iso(tx.now),
    attempt_id: attempt.id,
    outcome: finding.outcome,
  } as const;
  writeTimeline(tx, drawId, message, updated, entry);
  return updated;
}

/**
 * Leaves the follow-up of an attempt to an engine that has its transport: only that one can look
 * the attempt up. If none has it any more, the wait for receipts and look-ups ends.
 */
async function leaveToOthers(tx: Tx, claim: Claim<"follow-up">, drawId: GenerateId): Promise<void> {
  const attempt = await tx.get(attemptById, [claim.key.attempt_id]);
  const message = attempt && (await tx.get(messageById, [attempt.message_id], { hold: true }));
  if (attempt === undefined || message === undefined || waitsForOther(message, attempt)) {
    return finish(tx, claim);
  }
  const endsAt = attempt.started_at + maxAbsenceMs;
  const { status } = await endReceiptWait(tx, drawId, message, endsAt);
  const isOver = tx.now >= endsAt || !needsFollowUp(status);
  await finish(tx, claim, isOver ? {} : { againAt: tx.now + waitForTransportMs });
}

/** A sent message waits only for the receipts of the attempt that its status is based on. */
function waitsForOther(message: MessageRow, attempt: AttemptRow): boolean {
  return message.status === "sent" && !isDecidingAttempt(message, attempt);
}

/** Marks the message `unconfirmed` if the wait for receipts, which ends at `endsAt`, is over. */
async function endReceiptWait(
  tx: Tx,
  drawId: GenerateId,
  message: Seen<MessageRow>,
  endsAt: number,
): Promise<Seen<MessageRow>> {
  if (tx.now < endsAt) return message;
  const decision = applyReceiptTimeout(stateOf(message), tx.now);
  if (decision.decision === "none") return message;
  return moveAndRecord(tx, drawId, message, decision.state);
}
