import type { AgentSessionRow } from "./rows.ts";
import type { ConversationRow } from "../conversations/index.ts";
import { type MessageRow, messagesOfConversation } from "../messages/index.ts";
import type { RunRow } from "./runs/rows.ts";
import type { Tx } from "../store/index.ts";

/** A turn answers no more at once; who writes more without an answer is heard from here on. */
const most = 50;

/** What the contact wrote that its agent has not heard yet, and no person has answered; oldest first. Keywords are heard by others. */
export async function unansweredIn(
  tx: Tx,
  { id, message_count }: ConversationRow,
  { heard }: Pick<AgentSessionRow, "heard">,
): Promise<readonly MessageRow[]> {
  const first = Math.max(heard, message_count - most) + 1;
  // Their numbers have no gaps, so they are known without looking.
  const places = Array.from(
    { length: Math.max(0, message_count - first + 1) },
    (_, i) => first + i,
  );
  const rows = (
    await Promise.all(places.map((sequence) => tx.list(messagesOfConversation, [id, sequence], 1)))
  ).flat();
  const last = rows.findLastIndex(({ author_type }) => author_type === "human");
  return rows
    .slice(last + 1)
    .filter(({ direction, keyword }) => direction === "inbound" && keyword === null);
}

/** What a run that answers messages keeps of them. */
export function heardIn(messages: readonly MessageRow[]): Pick<RunRow, "message_ids" | "heard"> {
  return { message_ids: messages.map(({ id }) => id), heard: messages.at(-1)?.sequence ?? 0 };
}
