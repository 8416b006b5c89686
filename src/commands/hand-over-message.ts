import { finish, renew } from "../domain/jobs/rows.ts";
import type { Claim } from "../domain/jobs/types.ts";
import { type AttemptRow, attempts, attemptsOfMessage, type MessageRow, outbox } from "../domain/messages/rows.ts";
import { handOver, lapsed } from "../domain/messages/rules.ts";
import { stateOf } from "../domain/messages/state.ts";
import type { DrawId } from "../ids.ts";
import type { Seen } from "../ports/collection.ts";
import type { Tx } from "../transactions/transaction.ts";
import { type Actor, actorOf } from "./steps/append-event.ts";
import type { Carriers } from "./steps/carriers.ts";
import { moveMessage } from "./steps/move-message.ts";
import { type HandedOver, settleAttempt } from "./steps/settle-attempt.ts";
import { writeTimeline } from "./steps/write-timeline.ts";

/** Messages that one transaction may find expired or lost before others have their turn. */
const mostLooked = 50;

export interface HandOverOptions {
  readonly leaseMs: number;
  readonly drawId: DrawId;
  readonly carriers: Carriers;
  /** Enough for one go: the conversation waits for its next turn. */
  readonly last: boolean;
}

/**
 * Takes the next message of a conversation to its hand-over and records the attempt; the carrier is called after the commit.
 * Without one, the job is finished: until the next is due, or for good.
 *
 * The claim is proved in the same transaction, so an engine that lost the conversation hands nothing over.
 */
export async function handOverMessage(
  tx: Tx,
  claim: Claim,
  { leaseMs, drawId, carriers, last }: HandOverOptions,
): Promise<HandedOver | undefined> {
  if (!(await renew(tx, claim, leaseMs))) return undefined;
  for (let looked = 0; !last && looked < mostLooked; looked++) {
    const [message] = await tx.list(outbox, [claim.key], 1);
    if (message === undefined) {
      await finish(tx, claim);
      return undefined;
    }
    const actor = actorOf(message, drawId);
    if (message.status === "sending") {
      await loseAnswer(tx, actor, message, carriers);
      continue;
    }
    const decision = handOver(stateOf(message), tx.now);
    switch (decision.decision) {
      case "expired":
        writeTimeline(tx, actor, message, await moveMessage(tx, actor, message, decision.state), null);
        continue;
      case "wait":
        await finish(tx, claim, { againAt: decision.until });
        return undefined;
      case "send": {
        if (message.body === null) {
          // Redacted while nobody knew whether it had left, and it had not: without its words it must not leave now.
          writeTimeline(tx, actor, message, await moveMessage(tx, actor, message, { status: "canceled" }), null);
          continue;
        }
        const sending = await moveMessage(tx, actor, message, decision.state);
        const attempt = tx.insert(attempts, attemptOf(sending, drawId, tx.now, leaseMs));
        return { message: sending, attempt };
      }
      case "none":
        throw new TypeError(`message ${message.id} stands in the outbox and is ${message.status}`);
    }
  }
  await finish(tx, claim, { againAt: tx.now });
  return undefined;
}

/** This engine holds the conversation and finds a message in another's hands: that one is gone, and its answer with it. */
async function loseAnswer(tx: Tx, actor: Actor, message: Seen<MessageRow>, carriers: Carriers): Promise<void> {
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (attempt === undefined) throw new TypeError(`message ${message.id} is sending without an attempt`);
  const decision = lapsed(stateOf(message), attempt.number);
  if (decision.decision === "none") throw new TypeError(`message ${message.id} can't lose its answer`);
  await settleAttempt(tx, actor, carriers, message, attempt, decision.state, {
    outcome: "ambiguous",
    error: decision.state.error,
  });
}

function attemptOf(message: Seen<MessageRow>, drawId: DrawId, now: number, leaseMs: number): AttemptRow {
  const { account_id, mode, id: message_id, transport } = message;
  return {
    id: drawId("att"),
    account_id,
    mode,
    message_id,
    number: message.attempts,
    transport: transport ?? "",
    started_at: now,
    leased_until: now + leaseMs,
    outcome: "pending",
    answered_at: null,
    answer_id: null,
    message_version: message.version,
    answer_version: null,
    provider_message_id: null,
    error: null,
    next_attempt_at: null,
    led_to: null,
    lookups: 0,
  };
}
