import { iso, withDeadline } from "../../kernel/index.ts";
import type { Runtime, Services } from "../../operations/index.ts";
import type { LookupAnswer, Seen, Transport } from "../../ports/index.ts";
import { arm, finish, type Claim, type JobHandler } from "../../queue/index.ts";
import { background, type Tx } from "../../store/index.ts";
import { acceptedStatus, decideAfterNotSent } from "../attempts/decide-after-attempt.ts";
import {
  longestCallMs,
  maxAbsenceMs,
  needsFollowUp,
  nextFollowUpAt,
  receiptsEndAt,
} from "../attempts/follow-up-times.ts";
import {
  isDecidingAttempt,
  isOutdated,
  type MessageAndAttempt,
} from "../attempts/message-attempts.ts";
import { transportPatch } from "../attempts/next-attempt.ts";
import { waitForTransportMs } from "../hand-over/begin-attempt.ts";
import { callDeadlineMs, outbound, transportFor } from "../hand-over/call-carrier.ts";
import { sendJob } from "../job-orders.ts";
import {
  applyEarlyReceipts,
  applyReceipts,
  joinEvidence,
  providerIdFor,
} from "../receipts/apply-receipt.ts";
import { attemptById, attempts, messageById, type AttemptRow, type MessageRow } from "../rows.ts";
import { applyReceiptTimeout } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { checkLookupAnswer } from "../transport-results.ts";
import { writeState, writeStateAndTimeline, writeTimeline } from "../write-state.ts";
import { ForwardSteps } from "./forward-steps.ts";
import { hasRival, identify, type Finding } from "./identify-attempt.ts";

/**
 * Looks up an attempt whose answer was lost or whose receipts have not come. After the clock was
 * set forward, waits until each call that was running then has ended. A look-up during the call
 * would find nothing, and the message would be sent twice.
 */
export function lookUpAttempt(runtime: Runtime): JobHandler<"follow-up"> {
  const { store, services, transports } = runtime;
  const forwardSteps = new ForwardSteps(runtime.clock);
  return async (claim, { stopping }) => {
    const waitMs = forwardSteps.waitMs(longestCallMs);
    if (waitMs > 0) {
      const postpone = (tx: Tx) => finish(tx, claim, { againAt: tx.now + waitMs });
      return store.commit(claim, postpone, background);
    }
    const reads = store.reads(claim);
    const attempt = await reads.get(attemptById, [claim.key.attempt_id]);
    const message = attempt && (await reads.get(messageById, [attempt.message_id]));
    // An erasure or a reset of the sandbox has removed them.
    if (attempt === undefined || message === undefined) {
      return store.commit(claim, (tx) => finish(tx, claim), background);
    }
    const transport = transportFor(transports, attempt);
    if (transport === undefined) {
      return store.commit(claim, (tx) => leaveToOthers(tx, claim), background);
    }
    const answer = await lookUp(runtime, transport, { message, attempt }, stopping);
    // The job runs again after its lease ends. A look-up changes nothing, so a stop need not wait.
    if (answer === "aborted") return;
    await store.commit(claim, (tx) => recordLookup(tx, services, claim, answer), background);
  };
}

const unknown: LookupAnswer = { outcome: "unknown" };

/**
 * Looks up an attempt. The result is `unknown` if another attempt may own what the carrier lists.
 */
async function lookUp(
  runtime: Runtime,
  transport: Transport,
  pair: MessageAndAttempt,
  stopping: AbortSignal,
): Promise<LookupAnswer | "aborted"> {
  const answer = await askCarrier(runtime, transport, pair, stopping);
  if (answer === "aborted" || answer.outcome !== "alike") return answer;
  const { message, attempt } = pair;
  const reads = runtime.store.reads(message);
  return (await hasRival(reads, message, attempt)) ? unknown : answer;
}

async function askCarrier(
  { clock, logger }: Runtime,
  transport: Transport,
  { message, attempt }: MessageAndAttempt,
  stopping: AbortSignal,
): Promise<LookupAnswer | "aborted"> {
  const lookup = transport.lookup?.bind(transport);
  if (lookup === undefined) return unknown;
  const { id: attempt_id, number, started_at, provider_message_id } = attempt;
  try {
    return await withDeadline(
      clock,
      callDeadlineMs,
      async (signal) => {
        const context = { attempt_id, number, started_at, provider_message_id, signal };
        const answer: unknown = await lookup(outbound(message), context);
        checkLookupAnswer(transport.name, answer);
        return answer;
      },
      () => unknown,
      stopping,
    );
  } catch (error) {
    if (stopping.aborted) return "aborted";
    logger.warn(
      { err: error, transport: transport.name, attempt_id },
      "a look-up of an attempt failed; it counts as unknown and is repeated",
    );
    return unknown;
  }
}

/**
 * Returns the attempt of a job and its message. Undefined if an erasure or a reset of the sandbox
 * has removed them.
 */
async function findMessageAndAttempt(
  tx: Tx,
  { key }: Claim<"follow-up">,
): Promise<MessageAndAttempt | undefined> {
  const attempt = await tx.get(attemptById, [key.attempt_id]);
  const message = attempt && (await tx.get(messageById, [attempt.message_id], { hold: true }));
  return attempt && message && { message, attempt };
}

/**
 * Records the result of a look-up, ends the wait for receipts if it is over, and schedules the next
 * look-up. The result is `unknown` if the transport cannot look up attempts.
 */
async function recordLookup(
  tx: Tx,
  services: Services,
  claim: Claim<"follow-up">,
  answer: LookupAnswer,
): Promise<void> {
  const pair = await findMessageAndAttempt(tx, claim);
  if (pair === undefined) return finish(tx, claim);

  const { message, attempt: before } = pair;
  const finding = await identify(tx, before, answer);
  const provider_message_id =
    finding.outcome === "sent"
      ? await providerIdFor(tx, before, finding.provider_message_id)
      : before.provider_message_id;
  const attempt = tx.update(attempts, before, {
    lookups: before.lookups + 1,
    outcome: outcomeOf(before, finding),
    provider_message_id,
  });
  const found = await applyFinding(tx, services, { message, attempt }, finding);
  if (waitsForOther({ message: found, attempt })) return finish(tx, claim);

  const { factsByTransport } = services;
  const endsAt = receiptsEndAt(attempt, factsByTransport);
  const { status } = await endReceiptWait(tx, found, endsAt);
  const foundNothing = finding.outcome === "unknown";
  const again = nextFollowUpAt(attempt, status, factsByTransport, tx.now, foundNothing);
  await finish(tx, claim, again === undefined ? {} : { againAt: again });
}

/**
 * Returns the outcome of an attempt after a look-up. A lost attempt that was certainly not sent
 * counts as rejected, also in later route decisions.
 */
function outcomeOf({ outcome }: AttemptRow, finding: Finding): AttemptRow["outcome"] {
  if (finding.outcome === "sent") return outcome === "undelivered" ? outcome : "accepted";
  return finding.outcome === "not_sent" && outcome === "ambiguous" ? "rejected" : outcome;
}

/** Applies what a look-up found to the message, writes it to the timeline, and applies receipts. */
async function applyFinding(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  finding: Finding,
): Promise<Seen<MessageRow>> {
  const { message, attempt } = pair;
  let updated = message;
  if (finding.outcome === "sent") {
    const status = acceptedStatus(services, attempt);
    const evidence = { status, at: attempt.started_at, error: null } as const;
    if (!isOutdated(pair, evidence)) {
      ({ message: updated } = await joinEvidence(tx, services, pair, evidence));
    }
  } else if (finding.outcome === "not_sent") {
    const decided = await decideAfterNotSent(tx, services, message, attempt);
    if (decided !== undefined) {
      const patch = transportPatch(message, decided.next);
      updated = await writeState(tx, message, decided.state, patch);
      // The message is sent again.
      if (updated.status === "queued") await arm(tx, sendJob(updated, updated.retry_at ?? tx.now));
    }
  }
  writeTimeline(tx, message, updated, {
    type: "lookup",
    at: iso(tx.now),
    attempt_id: attempt.id,
    outcome: finding.outcome,
  });
  if (finding.outcome !== "sent") return updated;
  const proved = { message: updated, attempt };
  const withReceipts = await applyReceipts(tx, services, proved, finding.receipts);
  const latest = await applyEarlyReceipts(tx, services, withReceipts);
  return latest.message;
}

/**
 * Leaves the follow-up of an attempt to an engine that has its transport: only that one can look
 * the attempt up. If none has it any more, the wait for receipts and look-ups ends.
 */
async function leaveToOthers(tx: Tx, claim: Claim<"follow-up">): Promise<void> {
  const pair = await findMessageAndAttempt(tx, claim);
  if (pair === undefined || waitsForOther(pair)) return finish(tx, claim);
  const { message, attempt } = pair;
  const endsAt = attempt.started_at + maxAbsenceMs;
  const { status } = await endReceiptWait(tx, message, endsAt);
  const isOver = tx.now >= endsAt || !needsFollowUp(status);
  await finish(tx, claim, isOver ? {} : { againAt: tx.now + waitForTransportMs });
}

/** A sent message waits only for the receipts of the attempt that its status is based on. */
function waitsForOther({ message, attempt }: MessageAndAttempt): boolean {
  return message.status === "sent" && !isDecidingAttempt(message, attempt);
}

/** Marks the message `unconfirmed` if the wait for receipts, which ends at `endsAt`, is over. */
async function endReceiptWait(
  tx: Tx,
  message: Seen<MessageRow>,
  endsAt: number,
): Promise<Seen<MessageRow>> {
  if (tx.now < endsAt) return message;
  const decision = applyReceiptTimeout(stateOf(message), tx.now);
  if (decision.decision === "none") return message;
  return writeStateAndTimeline(tx, message, decision.state);
}
