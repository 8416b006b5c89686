import { type DrawId, iso } from "../kernel/index.ts";
import { arm, disarm } from "../queue/index.ts";
import { type AttemptRow, type MessageRow, parkedReceipts, parkedReceiptsOf } from "./rows.ts";
import type { Evidence } from "./carriage.ts";
import { carried, evidenceOf, isSuperseded, sound } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { IgnoredReason } from "./timeline-types.ts";
import type { Services } from "../operations/index.ts";
import type { Receipt, Seen } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";
import { fallBack, isGivenUp, isHandedOn } from "./fall-back.ts";
import { moveMessage } from "./move.ts";
import { followUpJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/** Joins a receipt to what is known, and keeps it in the timeline whether it changed anything or not. */
export async function applyReceipt(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  receipt: Receipt,
): Promise<Seen<MessageRow>> {
  const { drawId } = services;
  const evidence = evidenceOf(sound(receipt, tx.now));
  const { moved, ignored_reason } = await heed(tx, services, drawId, message, attempt, evidence);
  writeTimeline(tx, drawId, message, moved, {
    type: "receipt",
    at: iso(tx.now),
    carrier_at: iso(evidence.at),
    status: receipt.status,
    provider_message_id: attempt.provider_message_id,
    error: evidence.error,
    applied: ignored_reason === null,
    ignored_reason,
  });
  // From here on nothing more is waited for: what else comes is evidence all the same.
  if (isFinal(moved)) await disarm(tx, { kind: "follow-up", key: { attempt_id: attempt.id } });
  return moved;
}

interface Heeded {
  readonly moved: Seen<MessageRow>;
  readonly ignored_reason: IgnoredReason | null;
}

async function heed(
  tx: Tx,
  services: Services,
  drawId: DrawId,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  evidence: Evidence,
): Promise<Heeded> {
  const isLast = attempt.number === message.attempts && !isHandedOn(message, attempt);
  if (isSuperseded(evidence, { isLast, isGivenUp: isGivenUp(attempt) })) {
    return { moved: message, ignored_reason: "superseded" };
  }
  const { joined, state } = carried(stateOf(message), evidence);
  if (!joined.applied) return { moved: message, ignored_reason: joined.ignored_reason };
  const isNews = state.status === "undelivered" && message.status !== "undelivered";
  const wentOn = isNews
    ? await fallBack(tx, services, drawId, message, attempt, state.error)
    : undefined;
  const patch = state.status === message.status ? {} : carriedBy(message, attempt);
  return {
    moved: wentOn ?? (await moveMessage(tx, drawId, message, state, patch)),
    ignored_reason: null,
  };
}

/** After a fallback it may still turn out to have gone out by the transport before. */
function carriedBy(
  message: MessageRow,
  { transport, provider_message_id }: AttemptRow,
): Partial<MessageRow> {
  return message.transport === transport ? {} : { transport, provider_message_id };
}

/** Applies receipts that a carrier brought by itself, in the order in which it did. */
export async function takeReceipts(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  receipts: readonly Receipt[],
): Promise<Seen<MessageRow>> {
  let moved = message;
  for (const receipt of receipts) moved = await applyReceipt(tx, services, moved, attempt, receipt);
  // The answer may never come. Then nobody looks after it, unless somebody does when it must have come.
  if (moved.status === "sent" && attempt.outcome !== "accepted") {
    await arm(tx, followUpJob(attempt, attempt.leased_until));
  }
  return moved;
}

/** Applies the receipts that came before anybody knew which attempt the provider's id belongs to. */
export async function applyParked(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
): Promise<Seen<MessageRow>> {
  const { transport, provider_message_id } = attempt;
  if (provider_message_id === null) return message;
  const all = unscoped(tx);
  const parked = await all.get(parkedReceiptsOf, [transport, provider_message_id]);
  if (parked === undefined) return message;
  all.remove(parkedReceipts, parked);
  let moved = message;
  for (const receipt of parked.receipts) {
    moved = await applyReceipt(tx, services, moved, attempt, receipt);
  }
  return moved;
}

function isFinal({ status }: MessageRow): boolean {
  return status === "delivered" || status === "undelivered" || status === "read";
}
