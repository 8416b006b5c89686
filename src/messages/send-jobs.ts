import { sendLane } from "../senders/index.ts";
import type { JobOrder } from "../queue/index.ts";
import type { AttemptRow, MessageRow } from "./rows.ts";

/** Returns the job that hands over the queued messages of a conversation in order. */
export function sendJob(message: MessageRow, due_at: number): JobOrder<"send"> {
  const { account_id, mode, conversation_id, transport } = message;
  const lane = sendLane({ account_id, mode, transport });
  return { kind: "send", key: { conversation_id }, account_id, mode, lane, due_at };
}

/** Returns the job that queues a scheduled message when it is due. */
export function releaseJob(
  { account_id, mode, id: message_id }: MessageRow,
  due_at: number,
): JobOrder<"release"> {
  const lane = { kind: "release", slow: false } as const;
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

/** Returns the job that looks once more for the attempt of early receipts. */
export function earlyReceiptJob(
  transport: string,
  provider_message_id: string,
  due_at: number,
): JobOrder<"early-receipt"> {
  const key = { transport, provider_message_id };
  const lane = { kind: "early-receipt", slow: false } as const;
  return { kind: "early-receipt", key, account_id: null, mode: null, lane, due_at };
}
