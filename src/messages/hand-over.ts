import { type Claim, finish, renew } from "../queue/index.ts";
import { type AttemptRow, attempts, attemptsOfMessage, type MessageRow, outbox } from "./rows.ts";
import { type DrawId, mediumOf } from "../kernel/index.ts";
import { goneOn, handOver, lapsed } from "./rules.ts";
import { stateOf } from "./state.ts";
import { ruling } from "../consents/index.ts";
import type { Services } from "../operations/index.ts";
import type { HostOpinions, OwnColumns, Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { Carriers } from "./carriers.ts";
import { holdAddressee } from "../contacts/index.ts";
import { findNext } from "./choose-route.ts";
import { holdBack, isErased, judgeQueued } from "./check-queued.ts";
import { takeTurn, turnOf } from "../senders/index.ts";
import { moveMessage } from "./move.ts";
import { type HandedOver, settleAttempt } from "./settle-attempt.ts";
import { writeTimeline } from "./write-timeline.ts";

/** Messages that one transaction may find expired or lost before others have their turn. */
const mostLooked = 50;

export interface HandOverOptions {
  readonly leaseMs: number;
  readonly services: Services;
  readonly hostOpinions: HostOpinions;
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
  claim: Claim<"send">,
  { leaseMs, services, hostOpinions, carriers, last }: HandOverOptions,
): Promise<HandedOver | undefined> {
  const { drawId } = services;
  if (!(await renew(tx, claim, leaseMs))) return undefined;
  for (let looked = 0; !last && looked < mostLooked; looked++) {
    const [message] = await tx.list(outbox, [claim.key.conversation_id], 1);
    if (message === undefined) {
      await finish(tx, claim);
      return undefined;
    }
    if (message.status === "sending") {
      await loseAnswer(tx, drawId, message, services, carriers);
      continue;
    }
    const decision = handOver(stateOf(message), tx.now);
    switch (decision.decision) {
      case "expired":
        writeTimeline(
          tx,
          drawId,
          message,
          await moveMessage(tx, drawId, message, decision.state),
          null,
        );
        continue;
      case "wait":
        await finish(tx, claim, { againAt: decision.until });
        return undefined;
      case "send": {
        const { channel, to } = message;
        const [pace, addressee] = await Promise.all([
          turnOf(tx, claim, message),
          holdAddressee(tx, services.secret, mediumOf(channel), to),
        ]);
        if (pace === "wait") return undefined;
        // Without its words or its contact it must not leave: it was redacted while nobody knew whether it had left, or it is erased.
        if (message.body === null || (await isErased(tx, message, addressee))) {
          writeTimeline(
            tx,
            drawId,
            message,
            await moveMessage(tx, drawId, message, { status: "canceled" }),
            null,
          );
          continue;
        }
        const ruled = ruling(await judgeQueued(tx, { services, hostOpinions }, message, addressee));
        if (ruled.verdict !== "allow") {
          await holdBack(tx, drawId, message, ruled);
          continue;
        }
        if (pace !== undefined) await takeTurn(tx, claim, pace);
        const sending = await moveMessage(tx, drawId, message, decision.state);
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
async function loseAnswer(
  tx: Tx,
  drawId: DrawId,
  message: Seen<MessageRow>,
  services: Services,
  carriers: Carriers,
): Promise<void> {
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (attempt === undefined) {
    throw new TypeError(`message ${message.id} is sending without an attempt`);
  }
  const decision = lapsed(stateOf(message), attempt.number);
  if (decision.decision === "none") {
    throw new TypeError(`message ${message.id} can't lose its answer`);
  }
  const lost = { outcome: "ambiguous", error: decision.state.error, not_before: null } as const;
  const next = await findNext(tx, services, message, attempt, lost);
  const goesOn = next?.next === "on" ? next : undefined;
  const state = goesOn === undefined ? decision.state : goneOn(decision.state, goesOn.at).state;
  await settleAttempt(tx, drawId, carriers, message, attempt, state, lost, goesOn);
}

function attemptOf(
  message: Seen<MessageRow>,
  drawId: DrawId,
  now: number,
  leaseMs: number,
): OwnColumns<AttemptRow> {
  const { id: message_id, transport } = message;
  return {
    id: drawId("att"),
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
    not_before: null,
    next_attempt_at: null,
    led_to: null,
    lookups: 0,
  };
}
