/** What a merge of two contacts keeps of each. */
import { maxLabels, type ContactFacts, type ContactRow } from "../contacts/index.ts";
import type { ConversationRow } from "../conversations/index.ts";

/** The maximum number of contacts that may be merged into one contact. */
export const maxMerged = 1_000;

/** The columns of a contact that a merge combines. */
export type MergeFacts = Pick<
  ContactRow,
  keyof ContactFacts | "sentiment_state" | "last_message_at"
>;

/**
 * Returns the survivor's columns after a merge. The survivor's values stay, and the other contact
 * fills the gaps. Labels and attributes are added up to their limits. The sentiment state comes
 * from the contact with more scored messages, because two means cannot be combined.
 */
export function mergedFacts(
  survivor: MergeFacts,
  other: MergeFacts,
  maxAttributes: number,
): MergeFacts {
  const last = [survivor.last_message_at, other.last_message_at].filter((each) => each !== null);
  return {
    name: survivor.name ?? other.name,
    phone: survivor.phone ?? other.phone,
    email: survivor.email ?? other.email,
    time_zone: survivor.time_zone ?? other.time_zone,
    language: survivor.language ?? other.language,
    labels: [...new Set([...survivor.labels, ...other.labels])].slice(0, maxLabels),
    attributes: fillGaps(survivor.attributes, other.attributes, maxAttributes),
    sentiment_state:
      (other.sentiment_state?.messages ?? 0) > (survivor.sentiment_state?.messages ?? 0)
        ? other.sentiment_state
        : survivor.sentiment_state,
    last_message_at: last.length === 0 ? null : Math.max(...last),
  };
}

function fillGaps(
  own: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
  max: number,
): Record<string, string> {
  const gaps = Object.entries(others).filter(([key]) => !Object.hasOwn(own, key));
  const room = Math.max(0, max - Object.keys(own).length);
  return Object.fromEntries([...Object.entries(own), ...gaps.slice(0, room)]);
}

/** The columns of a merged contact. The data is the survivor's. */
export const clearedFields = {
  name: null,
  phone: null,
  email: null,
  time_zone: null,
  language: null,
  labels: [],
  attributes: {},
  sentiment_state: null,
  last_message_at: null,
} as const satisfies MergeFacts;

/** The columns that say how active a conversation is. */
type ConversationActivity = Pick<ConversationRow, "status" | "last_activity_at">;

/**
 * Returns which of the current conversations of two contacts on a medium ends when they merge. The
 * other one stays current. An active one wins over a closed one. Of two active ones the survivor's
 * wins. Of two closed ones the later one wins, because an inbound message may reopen it.
 */
export function conversationToEnd<C extends ConversationActivity>(ofSurvivor: C, ofOther: C): C {
  if (ofSurvivor.status !== "closed") return ofOther;
  const isOtherKept =
    ofOther.status !== "closed" || ofOther.last_activity_at > ofSurvivor.last_activity_at;
  return isOtherKept ? ofSurvivor : ofOther;
}
