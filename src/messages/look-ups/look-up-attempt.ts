import { iso, withDeadline } from "../../kernel/index.ts";
import type { Runtime, Services } from "../../operations/index.ts";
import type { LookupAnswer, Transport } from "../../ports/index.ts";
import { finish, type Claim, type JobHandler } from "../../queue/index.ts";
import { background, type Tx } from "../../store/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import { acceptedStatus, provenColumns, type Reported } from "../attempts/carrier-reports.ts";
import {
  longestCallMs,
  maxAbsenceMs,
  needsFollowUp,
  nextFollowUpAt,
  receiptsEndAt,
} from "../attempts/follow-up-times.ts";
import { settle } from "../attempts/settle.ts";
import { waitForTransportMs } from "../hand-over/begin-attempt.ts";
import { callDeadlineMs, outbound, transportFor } from "../hand-over/call-carrier.ts";
import { applyEarlyReceipts, applyReceipts, providerIdFor } from "../receipts/apply-receipt.ts";
import { attemptById, attempts, messageById, type AttemptRow } from "../rows.ts";
import { checkLookupAnswer } from "../transport-results.ts";
import { writeTimeline } from "../write-state.ts";
import { ForwardSteps } from "./forward-steps.ts";
import { hasRival, identify, type Finding } from "./identify-attempt.ts";

/**
 * Looks up an attempt whose answer was lost or whose receipts have not come. After the clock was
 * set forward, waits until each call that was running then has ended. A look-up during a call could
 * find nothing, and the message would be sent twice.
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
      return store.commit(claim, (tx) => leaveToOthers(tx, services, claim), background);
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

  const finding = await identify(tx, pair.attempt, answer);
  const found = await applyFinding(tx, services, pair, finding);
  if (waitsForOther(found)) return finish(tx, claim);

  const { factsByTransport } = services;
  const endsAt = receiptsEndAt(found.attempt, factsByTransport);
  const { message, attempt } = await endReceiptWait(tx, services, found, endsAt);
  const foundNothing = finding.outcome === "unknown";
  const again = nextFollowUpAt(attempt, message.status, factsByTransport, tx.now, foundNothing);
  await finish(tx, claim, again === undefined ? {} : { againAt: again });
}

/** Applies what a look-up found, and writes it to the timeline. */
async function applyFinding(
  tx: Tx,
  services: Services,
  { message, attempt: before }: MessageAndAttempt,
  finding: Finding,
): Promise<MessageAndAttempt> {
  const attempt = tx.update(attempts, before, { lookups: before.lookups + 1 });
  const reported = await findingColumns(tx, services, attempt, finding);
  const pair = { message, attempt };
  const found = reported === undefined ? pair : await settle(tx, services, pair, reported);
  writeTimeline(tx, message, found.message, {
    type: "lookup",
    at: iso(tx.now),
    attempt_id: attempt.id,
    outcome: finding.outcome,
  });
  if (finding.outcome !== "sent") return found;
  const withReceipts = await applyReceipts(tx, services, found, finding.receipts);
  return applyEarlyReceipts(tx, services, withReceipts);
}

/** Returns the columns that store what a look-up found. Undefined if it found nothing new. */
async function findingColumns(
  tx: Tx,
  { factsByTransport }: Services,
  attempt: AttemptRow,
  finding: Finding,
): Promise<Reported | undefined> {
  if (finding.outcome === "sent") {
    const status = acceptedStatus(factsByTransport, attempt);
    return {
      ...provenColumns(attempt, { status, at: attempt.started_at, error: null }),
      provider_message_id: await providerIdFor(tx, attempt, finding.provider_message_id),
    };
  }
  const isUnsent = finding.outcome === "not_sent" && attempt.outcome === "ambiguous";
  return isUnsent ? { outcome: "rejected" } : undefined;
}

/**
 * Leaves the follow-up of an attempt to engines that have its transport: only they can look the
 * attempt up. If none has done so by `maxAbsenceMs` after the hand-over, the wait ends.
 */
async function leaveToOthers(tx: Tx, services: Services, claim: Claim<"follow-up">): Promise<void> {
  const pair = await findMessageAndAttempt(tx, claim);
  if (pair === undefined || waitsForOther(pair)) return finish(tx, claim);
  const endsAt = pair.attempt.started_at + maxAbsenceMs;
  const { message, attempt } = await endReceiptWait(tx, services, pair, endsAt);
  const isOver = tx.now >= endsAt || !needsFollowUp(attempt, message.status);
  await finish(tx, claim, isOver ? {} : { againAt: tx.now + waitForTransportMs });
}

/** A sent message waits only for the receipts of the attempt that its status is based on. */
function waitsForOther({ message, attempt }: MessageAndAttempt): boolean {
  return message.status === "sent" && message.basis !== attempt.number;
}

/** Makes a `sent` message `unconfirmed` if the wait for receipts has ended, at `endsAt`. */
async function endReceiptWait(
  tx: Tx,
  services: Services,
  pair: MessageAndAttempt,
  endsAt: number,
): Promise<MessageAndAttempt> {
  if (tx.now < endsAt || pair.message.status !== "sent") return pair;
  const evidence = { status: "unconfirmed", at: tx.now, error: null } as const;
  const ended = await settle(tx, services, pair, provenColumns(pair.attempt, evidence));
  writeTimeline(tx, pair.message, ended.message, null);
  return ended;
}
