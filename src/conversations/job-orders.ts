import type { ConversationId, Scope } from "../kernel/index.ts";
import type { JobOrder } from "../queue/index.ts";

interface ConversationKey extends Scope {
  readonly id: ConversationId;
}

/** Returns the job that opens a snoozed conversation when the snooze ends. */
export function wakeJob(
  { account_id, mode, id: conversation_id }: ConversationKey,
  due_at: number,
): JobOrder<"wake"> {
  const lane = { kind: "wake", slow: false } as const;
  return { kind: "wake", key: { conversation_id }, account_id, mode, lane, due_at };
}

/** Returns the job that acts when no person takes a conversation from the queue in time. */
export function queueTimeoutJob(
  { account_id, mode, id: conversation_id }: ConversationKey,
  due_at: number,
): JobOrder<"queue-timeout"> {
  const lane = { kind: "queue-timeout", slow: false } as const;
  return { kind: "queue-timeout", key: { conversation_id }, account_id, mode, lane, due_at };
}
