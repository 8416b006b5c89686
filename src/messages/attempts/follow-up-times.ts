/**
 * When the follow-up job of an attempt runs: it looks the attempt up at the carrier, and ends the
 * wait for receipts.
 */
import type { FactsByTransport } from "../../operations/index.ts";
import { leaseMs } from "../../queue/index.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";

/**
 * The delay of the first look-up after the lease of an attempt ended, in milliseconds. The engine
 * that made the call may be stalled and still send. A look-up before it has sent would find
 * nothing, and the message would be sent twice.
 */
const afterLeaseMs = 60_000;
/** The longest time that a call may run, also in a stalled engine, in milliseconds. */
export const longestCallMs = leaseMs + afterLeaseMs;
/**
 * The delay of the first look-up after the transport reported a lost answer, in milliseconds. The
 * call is over, but the carrier may still process it.
 */
const afterLostAnswerMs = 5_000;
/** The delay after each look-up that found nothing, in milliseconds. */
const lookupDelays = [10_000, 30_000, 120_000, 600_000, 3_600_000, 14_400_000] as const;

/**
 * How long after its hand-over an attempt is followed up if no engine has its transport any more,
 * in milliseconds. The transports of Twilio and Telnyx wait as long for receipts.
 */
export const maxAbsenceMs = 72 * 3_600_000;

/**
 * Whether an attempt may need a look-up or the end of its wait for receipts while its message has
 * this status. Of an ambiguous message, only the attempts whose answers are lost need look-ups.
 */
export function needsFollowUp(
  { outcome }: Pick<AttemptRow, "outcome">,
  status: MessageRow["status"],
): boolean {
  return status === "sent" || (status === "ambiguous" && outcome === "ambiguous");
}

/**
 * Returns when the follow-up job of an attempt runs first, in milliseconds since the epoch: for a
 * look-up, or when the wait for receipts ends. Undefined if neither is needed, or if a lost answer
 * belongs to a transport that cannot look up attempts. If this engine lacks the transport, it does
 * not know the times for receipts. The job then runs at once, and is left to an engine that does.
 */
export function firstFollowUpAt(
  attempt: AttemptRow,
  { status, basis }: Pick<MessageRow, "status" | "basis">,
  factsByTransport: FactsByTransport,
  now: number,
): number | undefined {
  if (attempt.outcome === "ambiguous" && status === "ambiguous") {
    if (factsByTransport.get(attempt.transport)?.canLookUp === false) return undefined;
    // The engine stopped, or the call passed its deadline. It may still be running, so wait until
    // its lease is over.
    const mayStillRun = attempt.error?.code === "answer_lost";
    return mayStillRun
      ? Math.max(attempt.leased_until, now) + afterLeaseMs
      : now + afterLostAnswerMs;
  }
  if (status !== "sent" || basis !== attempt.number) return undefined;
  if (!factsByTransport.has(attempt.transport)) return now;
  const at = nextFollowUpAt(attempt, status, factsByTransport, now);
  // A receipt came before the answer. The call may still run until its lease ends, and its answer
  // may never come.
  return at === undefined || attempt.answered_at !== null ? at : Math.max(at, attempt.leased_until);
}

/**
 * Returns when the follow-up job runs again: for a look-up, or when the wait for receipts ends.
 * Look-ups whose time has passed are left out, so that an outage does not end with all of them at
 * once. `foundNothing` tells whether a look-up has just found nothing. Undefined if:
 * - the attempt needs no follow-up, or this engine lacks its transport,
 * - its answer is lost, and all look-ups have been made or the transport has none,
 * - its answer is not lost, and the transport has no receipts.
 */
export function nextFollowUpAt(
  attempt: AttemptRow,
  status: MessageRow["status"],
  factsByTransport: FactsByTransport,
  now: number,
  foundNothing = false,
): number | undefined {
  const facts = factsByTransport.get(attempt.transport);
  if (facts === undefined || !needsFollowUp(attempt, status)) return undefined;
  if (status === "ambiguous") {
    if (!facts.canLookUp) return undefined;
    const delay = lookupDelays[attempt.lookups - 1];
    return delay === undefined ? undefined : now + delay;
  }
  if (facts.receipts === "none") return undefined;
  const { lookups_ms, timeout_ms } = facts.receipts;
  const times = facts.canLookUp ? lookups_ms.filter((each) => each < timeout_ms) : [];
  const age = now - attempt.started_at;
  const next = times.find((each) => each > age);
  if (next !== undefined) return attempt.started_at + next;
  const endsAt = attempt.started_at + timeout_ms;
  // After an outage, one look-up is made for all times that have passed. If it finds nothing, it is
  // repeated as for a lost answer, because the end of the wait may be days away.
  const delay = foundNothing && times.length > 0 ? lookupDelays[attempt.lookups - 1] : undefined;
  return delay === undefined ? endsAt : Math.min(now + delay, endsAt);
}

/**
 * Returns when the wait for receipts ends, in milliseconds since the epoch. Infinity if the
 * transport has no receipts or this engine lacks the transport.
 */
export function receiptsEndAt(attempt: AttemptRow, factsByTransport: FactsByTransport): number {
  const receipts = factsByTransport.get(attempt.transport)?.receipts ?? "none";
  return receipts === "none" ? Infinity : attempt.started_at + receipts.timeout_ms;
}
