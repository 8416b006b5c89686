import type { JobOrder } from "../queue/types.ts";
import type { AttemptRow, MessageRow } from "./rows.ts";

/** Hands over what is queued in a conversation, one after the other. */
export function sendJob(message: MessageRow, due_at: number): JobOrder {
  const { account_id, mode, conversation_id } = message;
  return { kind: "send", key: conversation_id, account_id, mode, lane: sendLane(message), due_at };
}

export function sendLane({
  transport,
  account_id,
  mode,
}: Pick<MessageRow, "transport" | "account_id" | "mode">): string {
  return `send ${transport} ${account_id} ${mode}`;
}

/** Queues a scheduled message when its time has come. */
export function releaseJob({ account_id, mode, id }: MessageRow, due_at: number): JobOrder {
  return { kind: "release", key: id, account_id, mode, lane: "release", due_at };
}

/** Looks after an attempt whose message is not settled: looks it up, and gives up when its time is over. */
export function followUpJob(
  { account_id, mode, id, transport }: AttemptRow,
  due_at: number,
): JobOrder {
  return {
    kind: "follow-up",
    key: id,
    account_id,
    mode,
    lane: `follow-up ${transport} ${account_id} ${mode}`,
    due_at,
  };
}

/** Looks once more for what a parked receipt belongs to. */
export function unparkJob(
  transport: string,
  provider_message_id: string,
  due_at: number,
): JobOrder {
  const key = `${encodeURIComponent(transport)} ${provider_message_id}`;
  return { kind: "unpark", key, account_id: null, mode: null, lane: "unpark", due_at };
}

/** The transport and the provider's id that the key of such a job is made of. */
export function parkedName(key: string): [transport: string, provider_message_id: string] {
  const space = key.indexOf(" ");
  return [decodeURIComponent(key.slice(0, space)), key.slice(space + 1)];
}
