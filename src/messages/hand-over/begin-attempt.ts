import { decisionOf } from "../../consents/index.ts";
import { identityByAddress } from "../../contacts/index.ts";
import { mediumOf, type ConversationId } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { HostVerdicts, ScopedColumns, Seen } from "../../ports/index.ts";
import {
  classOf,
  currentLane,
  finish,
  moveToUsualLane,
  remoteOf,
  renew,
  waitingForOf,
  type Claim,
  type JobKeys,
} from "../../queue/index.ts";
import { checkThrottle, recordHandOver, sendLane, throttleByAddress } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import { endQueued, recordLostAnswer } from "../attempts/settle.ts";
import { attempts, outbox, type AttemptRow, type MessageRow } from "../rows.ts";
import { expiredState, handOver, hasExpired, type NewState } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { writeState, writeStateAndTimeline, writeTimeline } from "../write-state.ts";
import { checkQueued, denyOrDefer, recipientChanged, recipientOf } from "./check-queued.ts";
import { showSender } from "./show-sender.ts";

/** The maximum number of messages of a conversation that one transaction reads or ends. */
const maxScanned = 50;

/** How long a job is left to engines that have its transport, in milliseconds. */
export const waitForTransportMs = 30_000;

/** A message and its attempt. Once they are committed, the carrier is called. */
export interface BegunAttempt extends MessageAndAttempt {
  /** Whether no other message of the conversation waited when the attempt began. */
  readonly isLast: boolean;
}

interface BeginOptions {
  readonly services: Services;
  readonly hostVerdicts: HostVerdicts;
  /** Whether the run of the job ends. Then no attempt begins, and the job is due again at once. */
  readonly endsRun: boolean;
}

/** Prefetches what `beginNextAttempt` reads. */
export function prefetchNextAttempt(tx: Tx, { conversation_id }: JobKeys["send"]): void {
  tx.prefetch(() => [{ index: outbox, key: [conversation_id], limit: 2 }]);
  tx.prefetchAbout(attemptSubject(conversation_id));
}

/** Lets `prefetchNextAttempt` name the rows whose keys are in the message. */
export function rememberNextAttempt(tx: Tx, message: MessageRow): void {
  const { conversation_id, channel, from, to } = message;
  tx.remember(attemptSubject(conversation_id), () => [
    { index: identityByAddress, key: [mediumOf(channel), to] },
    { index: throttleByAddress, key: [from] },
  ]);
}

const attemptSubject = (id: ConversationId): string => `attempt in ${id}`;

/**
 * Records an attempt for the next message of a conversation. The caller calls the carrier after the
 * commit. Returns undefined if no attempt begins: the claim was lost, or the job is finished or due
 * again. The same transaction renews the claim, so an engine that has lost it begins no attempt.
 */
export async function beginNextAttempt(
  tx: Tx,
  claim: Claim<"send">,
  options: BeginOptions,
): Promise<BegunAttempt | undefined> {
  const { services, endsRun } = options;
  const { conversation_id } = claim.key;
  const leased_until = await renew(tx, claim);
  if (leased_until === undefined) return undefined;
  let last: Seen<MessageRow> | undefined;
  for (let scanned = 0; !endsRun && scanned < maxScanned; scanned++) {
    const [message, behind] = await tx.list(outbox, [conversation_id], 2);
    if (message === undefined) {
      await finish(tx, claim);
      return undefined;
    }
    checkProgress(message, last);
    last = message;
    if (needsMissingTransport(message, services, tx.now)) {
      return leaveToOthers(tx, claim, message, options);
    }
    if (message.status === "sending") {
      await recordLostAnswer(tx, services, message);
      continue;
    }
    const decision = handOver(stateOf(message), tx.now);
    switch (decision.decision) {
      case "expire":
        await handleExpiredAndLost(tx, claim, options);
        continue;
      case "wait":
        return waitUntil(tx, claim, decision.until, options);
      case "send": {
        const begun = await beginAttempt(
          tx,
          claim,
          { message, state: decision.state, leased_until },
          options,
        );
        if (begun === "skipped") continue;
        // If the sender is throttled, `checkThrottle` has finished the job.
        if (begun === "throttled") return undefined;
        return { ...begun, isLast: behind === undefined };
      }
      case "none":
        throw new TypeError(
          `message ${message.id} is in the outbox but has status ${message.status}`,
        );
    }
  }
  await finish(tx, claim, { againAt: tx.now });
  return undefined;
}

/**
 * Checks that the last round has changed the first message or its status. Otherwise, a mistake
 * would let the job run again at once, without end.
 */
function checkProgress(first: MessageRow, before: MessageRow | undefined): void {
  if (first.id === before?.id && first.status === before.status) {
    throw new TypeError(`message ${first.id} keeps status ${first.status} in the outbox`);
  }
}

/**
 * Leaves a conversation to engines that have the transport of its next message. Its job moves to
 * the lane of that transport. In any other lane, the engines that have that lane's transport would
 * take the job first each time. `waiting_for` is kept: otherwise the job would wait for the
 * throttle again and come back here.
 */
async function leaveToOthers(
  tx: Tx,
  claim: Claim<"send">,
  message: MessageRow,
  options: BeginOptions,
): Promise<undefined> {
  const present = await currentLane(tx, claim);
  if (remoteOf(present) === message.transport) {
    return waitUntil(tx, claim, tx.now + waitForTransportMs, options);
  }
  const lane = { ...sendLane(message, classOf(present)), waiting_for: waitingForOf(present) };
  await finish(tx, claim, { againAt: tx.now, lane });
  return undefined;
}

/** Lets a conversation wait until `at`, or until the first of its messages expires. */
async function waitUntil(
  tx: Tx,
  claim: Claim<"send">,
  at: number,
  options: BeginOptions,
): Promise<undefined> {
  const firstExpiry = await handleExpiredAndLost(tx, claim, options);
  await finish(tx, claim, { againAt: Math.min(at, firstExpiry) });
  return undefined;
}

interface NextMessage {
  readonly message: Seen<MessageRow>;
  /** Its state once an attempt has begun. */
  readonly state: NewState;
  /** When the lease of the job ends, in milliseconds since the epoch. */
  readonly leased_until: number;
}

/**
 * Begins an attempt unless the sender is throttled. A message that must not be sent now is
 * canceled, failed or deferred instead, and no longer blocks its conversation.
 */
async function beginAttempt(
  tx: Tx,
  claim: Claim<"send">,
  { message, state, leased_until }: NextMessage,
  options: BeginOptions,
): Promise<MessageAndAttempt | "throttled" | "skipped"> {
  const { services, hostVerdicts } = options;
  const [throttle, recipient] = await Promise.all([
    checkThrottle(tx, claim, message.from, () => handleExpiredAndLost(tx, claim, options)),
    recipientOf(tx, message),
  ]);
  if (throttle === "wait") return "throttled";
  // A message without a body was redacted while it was ambiguous. It must not be sent, and neither
  // must a message to an erased contact.
  if (message.body === null || recipient === "erased") {
    await writeStateAndTimeline(tx, message, { status: "canceled" });
    return "skipped";
  }
  if (recipient === "changed") {
    await denyOrDefer(tx, services, message, recipientChanged);
    return "skipped";
  }
  const verdicts = await checkQueued(tx, { services, hostVerdicts }, message, recipient);
  const decision = decisionOf(verdicts);
  if (decision.verdict !== "allow") {
    await denyOrDefer(tx, services, message, decision);
    return "skipped";
  }
  if (throttle !== undefined) {
    await recordHandOver(tx, claim, throttle);
  } else if (claim.lane.waiting_for !== null) {
    // An earlier message waited for another sender. In that sender's lane, the job would count as
    // one that uses its throttle.
    await moveToUsualLane(tx, claim);
  }
  const sending = await writeState(tx, message, state);
  await showSender(tx, sending);
  const attempt = tx.insert(attempts, attemptOf(tx, sending, leased_until));
  return { message: sending, attempt };
}

/**
 * Expires messages and records lost answers among the first messages of a conversation. The first
 * one may wait longer than those behind it. One of those can be `sending`, with a lost answer: an
 * ambiguous message keeps its place, and a look-up may have queued it again while an engine sent a
 * later message and then crashed.
 *
 * Returns when the next of the messages that stay in the outbox expires, or Infinity. Returns now
 * if messages that were not read have moved up among the first.
 */
async function handleExpiredAndLost(
  tx: Tx,
  { key: { conversation_id } }: Claim<"send">,
  { services }: BeginOptions,
): Promise<number> {
  let firstExpiry = Infinity;
  let gone = 0;
  const first = await tx.list(outbox, [conversation_id], maxScanned);
  for (const listed of first) {
    const isLost = listed.status === "sending" && !needsMissingTransport(listed, services, tx.now);
    const message = isLost ? await recordLostAnswer(tx, services, listed) : listed;
    if (hasExpired(stateOf(message), tx.now)) {
      await expireQueued(tx, services, message);
      gone++;
    } else if (message.status === "queued" || message.status === "sending") {
      firstExpiry = Math.min(firstExpiry, message.expires_at ?? Infinity);
    } else {
      gone++;
    }
  }
  return gone > 0 && first.length === maxScanned ? tx.now : firstExpiry;
}

async function expireQueued(tx: Tx, services: Services, message: Seen<MessageRow>): Promise<void> {
  const updated = await endQueued(tx, services, message, expiredState);
  writeTimeline(tx, message, updated, null);
}

function attemptOf(
  tx: Tx,
  message: Seen<MessageRow>,
  leased_until: number,
): ScopedColumns<AttemptRow> {
  const { id: message_id, transport } = message;
  return {
    id: tx.drawId("att"),
    message_id,
    number: message.attempts,
    transport: transport ?? "",
    started_at: tx.now,
    leased_until,
    outcome: "pending",
    evidence: null,
    answered_at: null,
    answer_id: null,
    message_version: message.version,
    answer_version: null,
    provider_message_id: null,
    error: null,
    reported_error: null,
    not_before: null,
    next_attempt_at: null,
    led_to: null,
    lookups: 0,
  };
}

/**
 * Whether a message needs a transport that this engine does not have. After its expiry it needs
 * none: it is not sent again, so any engine can expire it or record that its answer is lost.
 */
function needsMissingTransport(
  { transport, expires_at }: MessageRow,
  { factsByTransport }: Services,
  now: number,
): boolean {
  if (transport === null || factsByTransport.has(transport)) return false;
  return (expires_at ?? Infinity) > now;
}
