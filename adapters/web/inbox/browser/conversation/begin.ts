/** Begins conversations. */
import type { Contact, Conversation } from "../../../../../src/index.ts";
import { api, go, linkTo, may } from "../../../shared/browser/index.ts";
import { conversations } from "../state/conversations.ts";
import { nextSequence } from "../state/order.ts";
import { writeReplySoon } from "./composer.tsx";

/** Whether the person may begin a conversation, and see it then. */
export const mayBegin = (): boolean =>
  may("conversations:read") && may("conversations:write") && may("messages:write");

/** Whether the contact has a number. Only a visitor can begin a webchat conversation. */
export const isReachable = ({ identities }: Contact): boolean =>
  identities.some(({ medium }) => medium === "text");

/** Begins the text conversation with a contact or a number, or finds the one that exists. */
export async function beginConversation(to: string): Promise<Conversation> {
  const sequence = nextSequence();
  const row = await api.post<Conversation>("v1/conversations", { to });
  conversations.putResponse(row, sequence);
  return row;
}

/** Shows a conversation with the cursor in the reply. */
export function showReply({ id, status }: Conversation): void {
  writeReplySoon(id);
  go(linkTo([status === "open" ? "all" : status, id]));
}
