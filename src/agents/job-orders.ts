import type { ConversationId, Scope } from "../kernel/index.ts";
import { bestClass, type JobOrder } from "../queue/index.ts";

/** Returns the job that runs an agent's turn in a conversation. Its class is the best one. */
export function turnJob(
  { account_id, mode, id: conversation_id }: Scope & { readonly id: ConversationId },
  due_at: number,
): JobOrder<"turn"> {
  const lane = { kind: "turn", slow: false, account_id, mode, class: bestClass } as const;
  return { kind: "turn", key: { conversation_id }, account_id, mode, lane, due_at };
}

/**
 * Returns the same job for a run that a program has triggered. A program can trigger thousands at
 * once, so contacts who wait for an answer in other conversations go first.
 */
export function triggeredTurnJob(
  conversation: Scope & { readonly id: ConversationId },
  due_at: number,
): JobOrder<"turn"> {
  const { lane, ...job } = turnJob(conversation, due_at);
  return { ...job, lane: { ...lane, class: "batch" } };
}
