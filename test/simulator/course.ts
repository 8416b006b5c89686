import type { Conversation } from "../../src/conversations/types.ts";
import { events, type EventRow } from "../../src/events/rows.ts";
import { messages, type MessageRow } from "../../src/messages/rows.ts";
import { ulidOf } from "../../src/kernel/ids.ts";
import type { Write } from "../../src/ports/storage.ts";

/** One thing that happened to a conversation. */
export type Step = { readonly conversation_id: string } & (
  | { readonly kind: "stands"; readonly conversation: Conversation }
  | { readonly kind: "has a message"; readonly message: MessageRow }
);

/** What a commit did to conversations, in the order in which its ids were drawn: of one conversation that is the order of what was done. */
export function courseOf(writes: readonly Write[]): Step[] {
  const steps = writes.flatMap((write) => {
    if (write.kind !== "insert") return [];
    const step = stepOf(write.collection, write.row);
    return step === undefined ? [] : [{ at: ulidOf(String(write.row["id"])), step }];
  });
  return steps.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ step }) => step);
}

function stepOf(collection: Write["collection"], row: object): Step | undefined {
  if (collection === messages) {
    const message = row as MessageRow;
    return { kind: "has a message", conversation_id: message.conversation_id, message };
  }
  const conversation = collection === events ? standingIn(row as EventRow) : undefined;
  return conversation && { kind: "stands", conversation_id: conversation.id, conversation };
}

/** How an event says that a conversation stands; undefined where it is about something else. */
export function standingIn({ type, data }: EventRow): Conversation | undefined {
  if (!/^conversation\.(created|updated|closed)$/.test(type)) return undefined;
  return (data as { conversation: Conversation }).conversation;
}
