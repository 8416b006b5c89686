import type { Conversation } from "../../src/conversations/types.ts";
import { events, type EventRow } from "../../src/events/rows.ts";
import { ulidOf } from "../../src/kernel/ids.ts";
import { messages, type MessageRow } from "../../src/messages/rows.ts";
import type { Write } from "../../src/ports/storage.ts";

/** A change to one conversation: its state as an event tells it, or a new message in it. */
export type ConversationChange = { readonly conversation_id: string } & (
  | { readonly kind: "state"; readonly conversation: Conversation }
  | { readonly kind: "message"; readonly message: MessageRow }
);

/**
 * The changes that a commit made to conversations, ordered by the ids of the rows. Within one
 * conversation this is the order in which the changes were made.
 */
export function conversationChanges(writes: readonly Write[]): ConversationChange[] {
  const changes = writes.flatMap((write) => {
    if (write.kind !== "insert") return [];
    const change = changeOf(write.collection, write.row);
    return change === undefined ? [] : [{ at: ulidOf(String(write.row["id"])), change }];
  });
  return changes.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ change }) => change);
}

function changeOf(collection: Write["collection"], row: object): ConversationChange | undefined {
  if (collection === messages) {
    const message = row as MessageRow;
    return { kind: "message", conversation_id: message.conversation_id, message };
  }
  const conversation = collection === events ? conversationIn(row as EventRow) : undefined;
  return conversation && { kind: "state", conversation_id: conversation.id, conversation };
}

/** The conversation in an event's payload; undefined for events of other types. */
export function conversationIn({ type, data }: EventRow): Conversation | undefined {
  if (!/^conversation\.(created|updated|closed)$/.test(type)) return undefined;
  return (data as { conversation: Conversation }).conversation;
}
