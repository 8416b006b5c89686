import type { ContactId } from "../kernel/ids.ts";
import { sentimentOf } from "./sentiment-rules.ts";
import { iso, isoOrNull } from "../kernel/time.ts";
import type { ContactRow, IdentityRow } from "./rows.ts";
import type { Contact, ContactReference } from "./types.ts";

/** What a contact's current conversations know better than its row: a message writes them, and not the contact. */
export interface Activity {
  readonly message_count: number;
  readonly last_activity_at: number;
}

export function contactResource(
  row: ContactRow,
  identities: readonly IdentityRow[],
  current: readonly Activity[],
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
  current: readonly Activity[],
): number | null {
  const times = current
    .filter(({ message_count }) => message_count > 0)
    .map((each) => each.last_activity_at);
  return [last_message_at, ...times].reduce((latest, each) => later(latest, each), null);
}

function later(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
