import type { ContactId } from "../../ids.ts";
import { iso } from "../time.ts";
import type { ContactRow, IdentityRow } from "./rows.ts";
import type { Contact, ContactReference } from "./types.ts";

export function contactResource(row: ContactRow, identities: readonly IdentityRow[]): Contact {
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
    opted_out: false,
    sentiment: null,
    merged_into,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    last_message_at: null,
  };
}

/** Who it is about, as events show it. Without a name the address stands for it. */
export function contactReference(id: ContactId, contact: ContactRow | undefined, address: string): ContactReference {
  return { id, name: contact?.name ?? contact?.phone ?? address, phone: contact?.phone ?? null };
}
