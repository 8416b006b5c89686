import { type DrawId, iso } from "../kernel/index.ts";
import { arm, type Claim, finish } from "../queue/index.ts";
import { attemptById, attempts, type AttemptRow, messageById, type MessageRow } from "./rows.ts";
import { carried, notSent, unconfirmed } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { Services } from "../operations/index.ts";
import type { LookupAnswer, Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { applyParked, applyReceipt } from "./apply-receipt.ts";
import type { Carriers } from "./carriers.ts";
import { findNext, handedOn } from "./choose-route.ts";
import { nextLookAt, receiptsEndAt } from "./follow-up.ts";
import { heedRefusal } from "./apply-refusal.ts";
import { moveMessage } from "./move.ts";
import { providerIdFor } from "./provider-id.ts";
import { sendJob } from "./send-jobs.ts";
import { tellApart } from "./tell-apart.ts";
import { writeTimeline } from "./write-timeline.ts";

/**
 * Records what a look-up found of an attempt, gives up on receipts when their time is over, and decides whether to look again.
 * Where the transport can't look up, it is always `unknown`.
 */
export async function recordLookup(
  tx: Tx,
  claim: Claim<"follow-up">,
  found: LookupAnswer,
  services: Services,
  carriers: Carriers,
): Promise<void> {
  const attempt = await tx.get(attemptById, [claim.key.attempt_id]);
  const message = attempt && (await tx.get(messageById, [attempt.message_id]));
  // The account's sandbox may have been reset meanwhile.
  if (attempt === undefined || message === undefined) return finish(tx, claim);

  const { drawId } = services;
  const answer = await tellApart(tx, message, attempt, found);
  const provider_message_id =
    answer.outcome === "sent"
      ? await providerIdFor(tx, attempt, answer.provider_message_id)
      : attempt.provider_message_id;
  const outcome = outcomeOf(attempt, answer);
  const looked = tx.update(attempts, attempt, {
    lookups: attempt.lookups + 1,
    outcome,
    provider_message_id,
  });
  let moved = await applyFinding(tx, drawId, message, looked, answer, { services, carriers });
  if (answer.outcome === "sent") {
    for (const receipt of answer.receipts) {
      moved = await applyReceipt(tx, services, moved, looked, receipt);
    }
    moved = await applyParked(tx, services, moved, looked);
  }
  await heedRefusal(tx, services, message, moved);
  moved = await giveUpInTime(tx, drawId, moved, looked, carriers);

  const again = nextLookAt(looked, moved.status, carriers, tx.now);
  await finish(tx, claim, again === undefined ? {} : { againAt: Math.max(again, tx.now + 1) });
}

/** What was lost and surely never came is as good as refused, also to whoever looks at it when the next one has failed. */
function outcomeOf(
  { outcome }: AttemptRow,
  answer: Exclude<LookupAnswer, { outcome: "alike" }>,
): AttemptRow["outcome"] {
  if (answer.outcome === "sent") return "accepted";
  return answer.outcome === "not_sent" && outcome === "ambiguous" ? "rejected" : outcome;
}

async function applyFinding(
  tx: Tx,
  drawId: DrawId,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  answer: Exclude<LookupAnswer, { outcome: "alike" }>,
  { services, carriers }: { readonly services: Services; readonly carriers: Carriers },
): Promise<Seen<MessageRow>> {
  let moved = message;
  if (answer.outcome === "sent") {
    const status = carriers.get(attempt.transport)?.receipts === "none" ? "delivered" : "sent";
    const found = carried(stateOf(message), { status, at: attempt.started_at, error: null });
    if (found.joined.applied) {
      moved = await moveMessage(tx, drawId, message, found.state, {
        provider_message_id: attempt.provider_message_id,
      });
    }
  } else if (answer.outcome === "not_sent") {
    // It surely was not sent: as good as a refusal that may pass.
    const denied = { outcome: "rejected", error: null, not_before: null } as const;
    const next = await findNext(
      tx,
      services,
      message,
      attempt,
      denied,
      attempt.answered_at ?? tx.now,
    );
    const decision = notSent(stateOf(message), attempt.number, tx.now, next);
    if (decision.decision !== "none") {
      const patch = decision.decision === "retry" ? handedOn(message, next) : {};
      moved = await moveMessage(tx, drawId, message, decision.state, patch);
      if (decision.decision === "retry") await arm(tx, sendJob(moved, moved.retry_at ?? tx.now));
    }
  }
  const entry = {
    type: "lookup",
    at: iso(tx.now),
    attempt_id: attempt.id,
    outcome: answer.outcome,
  } as const;
  writeTimeline(tx, drawId, message, moved, entry);
  return moved;
}

async function giveUpInTime(
  tx: Tx,
  drawId: DrawId,
  message: Seen<MessageRow>,
  attempt: AttemptRow,
  carriers: Carriers,
): Promise<Seen<MessageRow>> {
  if (tx.now < receiptsEndAt(attempt, carriers)) return message;
  const decision = unconfirmed(stateOf(message), tx.now);
  if (decision.decision === "none") return message;
  const moved = await moveMessage(tx, drawId, message, decision.state);
  writeTimeline(tx, drawId, message, moved, null);
  return moved;
}
