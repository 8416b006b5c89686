import { runHook, type Services } from "../operations/index.ts";
import { onMessageScored } from "./hooks.ts";
import { sentimentChanged } from "./events.ts";
import {
  contactReference,
  contacts,
  feel,
  findSurvivor,
  sentimentOf,
  unmoved,
} from "../contacts/index.ts";
import { type Claim, finish, renew } from "../queue/index.ts";
import { messageById } from "../messages/index.ts";
import { messageScoreById, type MessageScoreRow, messageScores, pendingScores } from "./rows.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";

/** A message whose turn it is. */
export interface Unscored {
  readonly row: MessageScoreRow;
  /** Empty where nothing is left of its words. */
  readonly text: string;
}

/** The contact's first message without a score. Without one the job is finished; where the lease was lost, nothing is done. */
export async function nextUnscored(
  tx: Tx,
  claim: Claim<"score">,
  leaseMs: number,
): Promise<Unscored | undefined> {
  if (!(await renew(tx, claim, leaseMs))) return undefined;
  const [row] = await tx.list(pendingScores, [claim.key.contact_id], 1);
  if (row === undefined) {
    await finish(tx, claim);
    return undefined;
  }
  const message = await tx.get(messageById, [row.message_id]);
  return { row, text: message?.body ?? "" };
}

/**
 * Writes a score down and what it makes of the contact's mood. Whoever scored the same message before, or erased or merged its contact
 * meanwhile, left no such pending row: then nothing is counted twice.
 */
export async function recordScore(
  tx: Tx,
  { contact_id, message_id }: MessageScoreRow,
  score: number | null,
  services: Services,
): Promise<void> {
  const row = await tx.get(messageScoreById, [contact_id, message_id]);
  if (row?.state !== "pending") return;
  tx.update(messageScores, row, { state: score === null ? "none" : "scored", score });
  const message = await tx.get(messageById, [message_id]);
  if (message !== undefined) await runHook(tx, services, onMessageScored, { message });
  // Of a contact that was merged and whose history has not moved yet, it moves the survivor's.
  const contact = score === null ? undefined : await findSurvivor(tx, row.contact_id);
  if (contact === undefined || score === null) return;
  const from = contact.mood === null ? unmoved : sentimentOf(contact.mood);
  const mood = feel(contact.mood, score);
  tx.update(contacts, contact, { mood });
  const to = sentimentOf(mood);
  if (from.label === to.label) return;
  const data = {
    contact: contactReference(contact.id, contact, message?.from ?? ""),
    from,
    to,
    message_id,
  };
  appendEvent(tx, services.drawId, sentimentChanged, data, {
    contact_id: contact.id,
    ...(message === undefined ? {} : { conversation_id: message.conversation_id }),
  });
}
