import { conversationClosed, conversationUpdated } from "./events.ts";
import { type DrawId, notFound, TidingsError } from "../kernel/index.ts";
import { told } from "./resource.ts";
import { type ConversationRow, conversationById } from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";
import { showConversation } from "./show.ts";
import { writeConversation } from "./write.ts";

/**
 * Held, also where nothing of it changes: notes that are written and answers that are remembered meanwhile must be found by an erasure.
 * @throws TidingsError `not_found`
 */
export async function findOwnConversation(tx: Tx, id: string): Promise<Seen<ConversationRow>> {
  const conversation = await tx.get(conversationById, [id], { hold: true });
  if (conversation === undefined) throw notFound("conversation");
  return conversation;
}

/**
 * One that people and agents work on.
 * @throws TidingsError `not_found`; `conflict` when it is closed
 */
export async function findActiveConversation(tx: Tx, id: string): Promise<Seen<ConversationRow>> {
  const conversation = await findOwnConversation(tx, id);
  if (conversation.status !== "closed") return conversation;
  throw new TidingsError("conflict", "The conversation is closed; open it first.");
}

/** Why a closed conversation can't be opened again. */
export function superseded(): TidingsError {
  return new TidingsError(
    "conflict",
    "The conversation is closed, and a newer one has taken its place.",
  );
}

/** Changes what is decided about a conversation, and tells so. Where nothing differs, nothing is written or told. */
export async function changeConversation(
  tx: Tx,
  drawId: DrawId,
  before: Seen<ConversationRow>,
  patch: Partial<ConversationRow>,
): Promise<Seen<ConversationRow>> {
  const differs = Object.entries(patch).some(
    ([column, value]) => !same(Reflect.get(before, column), value),
  );
  if (!differs) return before;
  const after = await writeConversation(tx, before, { ...patch, updated_at: tx.now });
  const closes = after.status === "closed" && before.status !== "closed";
  const event = closes ? conversationClosed : conversationUpdated;
  const about = { contact_id: after.contact_id, conversation_id: after.id };
  appendEvent(tx, drawId, event, { conversation: told(await showConversation(tx, after)) }, about);
  return after;
}

/** Columns hold texts, numbers, lists of texts and records of texts. */
function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && sorted(a) === sorted(b));
}

function sorted(value: unknown): string {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return JSON.stringify(
    isRecord ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value,
  );
}
