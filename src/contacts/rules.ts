import type { ContactRow } from "./rows.ts";

export const mostLabels = 50;
/** Addresses of one contact. They move with it in one transaction, and are shown with it. */
export const mostIdentities = 100;
/** Contacts that one contact may have taken in. */
export const mostMerged = 1_000;

/** Whether it is a well-formed language tag (BCP 47, RFC 5646). */
export function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** A contact as far as a merge looks at it. */
export type MergeFacts = Pick<
  ContactRow,
  | "name"
  | "phone"
  | "email"
  | "time_zone"
  | "language"
  | "labels"
  | "attributes"
  | "mood"
  | "last_message_at"
>;

/**
 * What a contact comes to that takes in another: what it says itself stands, and the other fills its gaps. Of labels and attributes it
 * takes as many as a contact may have. The mood is of the one that more was heard of; two means can't be made one.
 */
export function mergedFacts(
  survivor: MergeFacts,
  other: MergeFacts,
  mostAttributes: number,
): MergeFacts {
  const last = [survivor.last_message_at, other.last_message_at].filter((each) => each !== null);
  return {
    name: survivor.name ?? other.name,
    phone: survivor.phone ?? other.phone,
    email: survivor.email ?? other.email,
    time_zone: survivor.time_zone ?? other.time_zone,
    language: survivor.language ?? other.language,
    labels: [...new Set([...survivor.labels, ...other.labels])].slice(0, mostLabels),
    attributes: filled(survivor.attributes, other.attributes, mostAttributes),
    mood: (other.mood?.messages ?? 0) > (survivor.mood?.messages ?? 0) ? other.mood : survivor.mood,
    last_message_at: last.length === 0 ? null : Math.max(...last),
  };
}

function filled(
  own: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
  most: number,
): Record<string, string> {
  const gaps = Object.entries(others).filter(([key]) => !Object.hasOwn(own, key));
  const room = Math.max(0, most - Object.keys(own).length);
  return Object.fromEntries([...Object.entries(own), ...gaps.slice(0, room)]);
}

/** What a merged contact is left with: whose it was is the survivor's to say. */
export const nothingOfItsOwn = {
  name: null,
  phone: null,
  email: null,
  time_zone: null,
  language: null,
  labels: [],
  attributes: {},
  mood: null,
  last_message_at: null,
} as const satisfies MergeFacts;

interface Last {
  readonly isActive: boolean;
  readonly last_activity_at: number;
}

/**
 * Which of two last conversations on a medium goes on when their contacts become one. An active one before one that is closed; of two
 * active ones the survivor's; of two closed ones the later, for an inbound may open it again.
 */
export function whichGoesOn(survivors: Last, others: Last): "survivors" | "others" {
  if (survivors.isActive) return "survivors";
  return others.isActive || others.last_activity_at > survivors.last_activity_at
    ? "others"
    : "survivors";
}
