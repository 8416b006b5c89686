import type { Activity } from "../operations/index.ts";
import { type ContactId, iso, isoOrNull } from "../kernel/index.ts";
import { sentimentOf } from "./sentiment-rules.ts";
import type { ContactRow, IdentityRow } from "./rows.ts";
import type { Contact, ContactReference } from "./types.ts";

export function contactResource(
  row: ContactRow,
  identities: readonly IdentityRow[],
  current: readonly Pick<Activity, "message_count" | "last_activity_at">[],
): Contact {
  const { id, name, phone, email, time_zone, language, merged_into } = row;
  return {
    id,
    name,
    phone,
    email,
    time_zone,
    language,
    labels: [...row.labels],
    attributes: { ...row.attributes },
    identities: identities.map(({ medium, address }) => ({ medium, address })),
    opted_out: identities.some(
      ({ medium, consent }) => medium === "text" && consent === "opted_out",
    ),
    sentiment: row.mood === null ? null : sentimentOf(row.mood),
    merged_into,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    last_message_at: isoOrNull(lastMessageAt(row, current)),
  };
}

/** Who it is about, as events show it. Without a name the address stands for it. */
export function contactReference(
  id: ContactId,
  contact: ContactRow | undefined,
  address: string,
): ContactReference {
  return { id, name: contact?.name ?? contact?.phone ?? address, phone: contact?.phone ?? null };
}

/** When a message last went to or came from it; null where none ever did. */
export function lastMessageAt(
  { last_message_at }: ContactRow,
  current: readonly Pick<Activity, "message_count" | "last_activity_at">[],
): number | null {
  const times = current
    .filter(({ message_count }) => message_count > 0)
    .map((each) => each.last_activity_at);
  return [last_message_at, ...times].reduce((latest, each) => later(latest, each), null);
}

function later(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
