import { type DrawId, invalid, TidingsError } from "../kernel/index.ts";
import {
  beginConversation,
  conversationById,
  type ConversationRow,
  currentConversation,
  findConversation,
  isActive,
} from "../conversations/index.ts";
import type { TriggerAgent } from "./types.ts";
import { type Seen, StorageConflict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { findRecipient, findSurvivor, media } from "../contacts/index.ts";

/**
 * The conversation that an agent is to do something in: the one that is named, or the contact's active one, of several that of the last
 * activity; else a new one by text. It is held: whoever erases the contact comes before this, or after it and finds what is made in it.
 * @throws TidingsError `validation_failed`; `conflict` when it is closed
 */
export async function findTriggered(
  tx: Tx,
  drawId: DrawId,
  { contact_id, conversation_id }: Pick<TriggerAgent, "contact_id" | "conversation_id">,
): Promise<Seen<ConversationRow>> {
  if (contact_id !== undefined) return ofContact(tx, drawId, contact_id);
  const found = conversation_id && (await hold(tx, conversation_id));
  if (!found) {
    throw invalid([
      {
        pointer: "/conversation_id",
        code: "unknown_conversation",
        message: "no such conversation",
      },
    ]);
  }
  if (found.status !== "closed") return found;
  throw new TidingsError("conflict", "The conversation is closed; open it first.");
}

async function ofContact(tx: Tx, drawId: DrawId, id: string): Promise<Seen<ConversationRow>> {
  const contact = await findSurvivor(tx, id);
  if (contact === undefined) {
    throw invalid([
      { pointer: "/contact_id", code: "unknown_contact", message: "no such contact" },
    ]);
  }
  const found = await Promise.all(
    media.map((medium) => tx.get(currentConversation, [contact.id, medium])),
  );
  const [last] = found.filter(isActive).toSorted((a, b) => b.last_activity_at - a.last_activity_at);
  if (last !== undefined) {
    const latest = await hold(tx, last.id);
    if (isActive(latest)) return latest;
    throw new StorageConflict("the conversation was closed between two reads");
  }
  const identity = await findRecipient(tx, "text", contact.id, "/contact_id");
  if (identity === undefined) {
    throw new StorageConflict("the contact gave the address up between two reads");
  }
  return beginConversation(tx, drawId, identity, await findConversation(tx, identity));
}

function hold(tx: Tx, id: string): Promise<Seen<ConversationRow> | undefined> {
  return tx.get(conversationById, [id], { hold: true });
}
