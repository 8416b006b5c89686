import type { ConversationId, Scope } from "../kernel/index.ts";
import type { JobOrder } from "../queue/index.ts";

/** Returns the job that runs an agent's turn in a conversation. */
export function turnJob(
  { account_id, mode, id: conversation_id }: Scope & { readonly id: ConversationId },
  due_at: number,
): JobOrder<"turn"> {
  const lane = { kind: "turn", slow: false, account_id, mode } as const;
  return { kind: "turn", key: { conversation_id }, account_id, mode, lane, due_at };
}
