/** The jobs of messages, with their lanes and classes. */
import { bestOf, moveToClass, type Claim, type JobClass, type JobOrder } from "../queue/index.ts";
import { sendLane } from "../senders/index.ts";
import type { Tx } from "../store/index.ts";
import { outbox, type AttemptRow, type MessageRow } from "./rows.ts";

/**
 * Returns the class of a message. It orders the messages of an account that wait for the same
 * transport.
 */
export function sendClassOf({
  category,
  in_batch,
}: Pick<MessageRow, "category" | "in_batch">): JobClass {
  if (category === "marketing") return in_batch ? "marketing_batch" : "marketing";
  return in_batch ? "batch" : "single";
}

/**
 * Returns the job that hands over the queued messages of a conversation in order. It has the class
 * of the best of them: a message may not overtake an earlier one of its conversation, but pulls the
 * whole conversation forward.
 */
export function sendJob(message: MessageRow, due_at: number): JobOrder<"send"> {
  const { account_id, mode, conversation_id } = message;
  const lane = sendLane(message, sendClassOf(message));
  return { kind: "send", key: { conversation_id }, account_id, mode, lane, due_at };
}

/** The number of queued messages that are read to find the class of a conversation. */
const maxRead = 50;

/**
 * Moves a conversation's job to the class of the best queued message, after messages have left.
 * `next` is the first of those that remain. If they are too many to read, the class stays.
 */
export function updateClass(tx: Tx, claim: Claim<"send">, next: MessageRow): Promise<void> {
  return moveToClass(tx, claim, async (current) => {
    // `arm` has set the class to that of the best message, so none is better than the current one.
    if (sendClassOf(next) === current) return current;
    const remaining = await tx.list(outbox, [next.conversation_id], maxRead);
    // The message that gave the job its class may be behind those that were read.
    if (remaining.length === maxRead) return current;
    return bestOf(sendClassOf(next), ...remaining.map(sendClassOf));
  });
}

/** Returns the job that queues a scheduled message when it is due. */
export function releaseJob(message: MessageRow, due_at: number): JobOrder<"release"> {
  const { account_id, mode, id: message_id } = message;
  const lane = { kind: "release", slow: false, class: sendClassOf(message) } as const;
  return { kind: "release", key: { message_id }, account_id, mode, lane, due_at };
}

/** Returns the job that looks up an attempt and ends its wait for receipts. */
export function followUpJob(
  { account_id, mode, id: attempt_id, transport: remote }: AttemptRow,
  due_at: number,
): JobOrder<"follow-up"> {
  const lane = { kind: "follow-up", slow: false, remote, account_id, mode } as const;
  return { kind: "follow-up", key: { attempt_id }, account_id, mode, lane, due_at };
}

/** Returns the job that looks again for the attempt of early receipts. */
export function earlyReceiptJob(
  transport: string,
  provider_message_id: string,
  due_at: number,
): JobOrder<"early-receipt"> {
  const key = { transport, provider_message_id };
  const lane = { kind: "early-receipt", slow: false } as const;
  return { kind: "early-receipt", key, account_id: null, mode: null, lane, due_at };
}
