import { awaitingRuns, handOff, unansweredSince } from "../agents/index.ts";
import {
  changeConversation,
  currentConversation,
  statusPatch,
  writeConversation,
  type ConversationRow,
} from "../conversations/index.ts";
import { mediums, type ContactId } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { conversationToEnd } from "./merge-rules.ts";

/**
 * How many runs that wait for an approval are read, those with the next deadlines first. There are
 * usually few.
 */
const maxAwaiting = 1_000;

/**
 * Moves the other contact's current conversations to the survivor. If both contacts have one on a
 * medium, one of the two stays current and the other ends. A contact who waits for an answer in the
 * one that ends then waits in the one that stays.
 */
export async function mergeConversations(
  tx: Tx,
  survivor: ContactId,
  other: ContactId,
): Promise<void> {
  for (const medium of mediums) {
    const [own, others] = await Promise.all([
      tx.get(currentConversation, [survivor, medium]),
      tx.get(currentConversation, [other, medium]),
    ]);
    if (others === undefined) continue;
    const ended = own && conversationToEnd(own, others);
    const since = ended === undefined ? null : await unansweredIn(tx, ended);
    if (ended !== undefined) await supersede(tx, ended, survivor);
    if (ended !== others) await changeConversation(tx, others, { contact_id: survivor });
    // `own` is active here: an active conversation ends only in favor of an active one.
    else if (own !== undefined && since !== null) await keepWaiting(tx, own, ended, since);
  }
}

/**
 * Returns since when the contact has waited for an answer in a conversation, in milliseconds since
 * the epoch: also while an agent waits for the approval of an action. Null if it does not wait.
 */
async function unansweredIn(tx: Tx, conversation: ConversationRow): Promise<number | null> {
  const { id, status, handler, waiting_since } = conversation;
  if (status === "closed" || handler !== "ai") return waiting_since;
  const runs = await tx.list(awaitingRuns, [id], maxAwaiting);
  // A single action from a trigger answers nobody, and can be approved after the merge too.
  const begun = runs.flatMap((run) => (run.request?.type === "action" ? [] : run.created_at));
  const unanswered = await unansweredSince(tx, conversation);
  const since = Math.min(unanswered ?? Infinity, ...begun);
  return since === Infinity ? null : since;
}

/**
 * Lets the contact wait in the conversation that stays, because nobody looks at the one that ends.
 * Its agent does not see what was asked there, so people get it.
 */
async function keepWaiting(
  tx: Tx,
  kept: Seen<ConversationRow>,
  ended: ConversationRow,
  since: number,
): Promise<void> {
  if (kept.handler === "ai" || (kept.handler === "none" && ended.handler === "queue")) {
    const reason = `A merge has closed the conversation ${ended.id}, which waited for an answer.`;
    await handOff(tx, kept, { rule: null, reason, summary: "" });
  } else {
    const waiting_since = Math.min(kept.waiting_since ?? since, since);
    // In this conversation, the contact's message would have ended the snooze too.
    const open = statusPatch({ status: "open" });
    await changeConversation(tx, kept, { ...open, waiting_since });
  }
}

/**
 * Ends the current conversation in favor of the other. It stays closed, but its queued messages are
 * still sent.
 */
async function supersede(tx: Tx, row: Seen<ConversationRow>, contact_id: ContactId): Promise<void> {
  const patch = { contact_id, current: null };
  if (row.status === "closed") await writeConversation(tx, row, patch);
  else {
    await changeConversation(tx, row, {
      ...patch,
      ...statusPatch({ status: "closed", closed_at: tx.now }),
    });
  }
}
