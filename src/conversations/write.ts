import { contactById, contacts } from "../contacts/index.ts";
import {
  conversationLabelByName,
  conversationLabels,
  type ConversationRow,
  conversations,
} from "./rows.ts";
import { arm, disarm } from "../queue/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/**
 * Conversations are written here alone once they are there, so that all that follows from one is written with it: its labels' rows,
 * the job that wakes it, and, when it is closed, the contact's last message.
 */
export async function writeConversation(
  tx: Tx,
  before: Seen<ConversationRow>,
  patch: Partial<ConversationRow>,
): Promise<Seen<ConversationRow>> {
  const after = tx.update(conversations, before, patch);
  if (before.labels.length > 0 || after.labels.length > 0) await writeLabels(tx, before, after);
  if (after.snoozed_until !== before.snoozed_until) await writeWake(tx, after);
  if (after.status === "closed" && before.status !== "closed") await tellContact(tx, after);
  return after;
}

async function writeLabels(tx: Tx, before: ConversationRow, after: ConversationRow): Promise<void> {
  const { id: conversation_id, status, last_activity_at } = after;
  const gone = before.labels.filter((label) => !after.labels.includes(label));
  const rowOf = (label: string) => tx.get(conversationLabelByName, [label, conversation_id]);
  const moved = status !== before.status || last_activity_at !== before.last_activity_at;
  const stayed = moved ? after.labels.filter((label) => before.labels.includes(label)) : [];
  const [goneRows, stayedRows] = await Promise.all([
    Promise.all(gone.map(rowOf)),
    Promise.all(stayed.map(rowOf)),
  ]);
  for (const row of goneRows) if (row !== undefined) tx.remove(conversationLabels, row);
  for (const row of stayedRows) {
    if (row !== undefined) tx.update(conversationLabels, row, { status, last_activity_at });
  }
  for (const label of after.labels) {
    if (before.labels.includes(label)) continue;
    tx.insert(conversationLabels, {
      label,
      conversation_id,
      status,
      last_activity_at,
    });
  }
}

/** Wakes a snoozed conversation on the clock. Armed for earlier already, the job finds that it is not yet time, and waits on. */
async function writeWake(
  tx: Tx,
  { account_id, mode, id: conversation_id, snoozed_until }: ConversationRow,
): Promise<void> {
  const job = { kind: "wake", key: { conversation_id } } as const;
  const lane = { kind: "wake", slow: false } as const;
  if (snoozed_until === null) await disarm(tx, job);
  else await arm(tx, { ...job, account_id, mode, lane, due_at: snoozed_until });
}

/** Active conversations have the time of their last message themselves, so that a message writes nothing at the contact. */
async function tellContact(
  tx: Tx,
  { account_id, mode, contact_id, ...last }: ConversationRow,
): Promise<void> {
  if (last.message_count === 0) return;
  const contact = await tx.get(contactById, [contact_id], { hold: true });
  if (contact === undefined || (contact.last_message_at ?? 0) >= last.last_activity_at) return;
  tx.update(contacts, contact, { last_message_at: last.last_activity_at });
}
