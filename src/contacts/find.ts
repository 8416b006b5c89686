import { invalid, notFound, TidingsError, wrongKind } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";
import { contactById, type ContactRow } from "./rows.ts";

/**
 * Returns the contact to change.
 * @throws TidingsError `not_found`; `conflict` with the survivor's id when the contact was merged,
 * because the caller assumes a separate contact
 */
export async function contactToChange(
  reads: Pick<Tx, "get">,
  id: string,
  options?: ReadOptions,
): Promise<Seen<ContactRow>> {
  const contact = await reads.get(contactById, [id], options);
  if (contact === undefined) throw notFound("contact", id);
  if (contact.merged_into !== null) throw mergedError(contact.merged_into);
  return contact;
}

/** The error of a field that names a contact which does not exist. */
export function unknownContact(id: string, pointer = "/contact_id"): TidingsError {
  const message = wrongKind("contact", id) ?? "no contact has this id";
  return invalid([{ pointer, code: "unknown_contact", message }]);
}

export function mergedError(conflictingId: string): TidingsError {
  return new TidingsError(
    "conflict",
    "The contact was merged into another contact. Use the id of that contact.",
    { conflictingId },
  );
}

/**
 * Returns the contact whose history is read. For a merged contact this is the survivor.
 * @throws TidingsError `not_found`
 */
export async function contactToRead(reads: Pick<Tx, "get">, id: string): Promise<Seen<ContactRow>> {
  const contact = await findSurvivor(reads, id);
  if (contact === undefined) throw notFound("contact", id);
  return contact;
}

/**
 * Returns the contact with this id, or its survivor if it was merged. A survivor is never merged
 * itself.
 */
export async function findSurvivor(
  reads: Pick<Tx, "get">,
  id: string,
  options?: ReadOptions,
): Promise<Seen<ContactRow> | undefined> {
  const named = await reads.get(contactById, [id], options);
  const survivor = named?.merged_into ?? null;
  return survivor === null ? named : reads.get(contactById, [survivor], options);
}
