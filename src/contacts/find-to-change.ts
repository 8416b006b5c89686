import { contactById, type ContactRow } from "./rows.ts";
import { notFound, TidingsError } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";
import { findSurvivor } from "./find-survivor.ts";

/**
 * The contact that something is to be done to.
 * @throws TidingsError `not_found`; `conflict`, with the id of the contact that it is now, when it was merged: whoever asks takes it for
 * somebody by itself, and has to know
 */
export async function contactToChange(
  tx: Tx,
  id: string,
  options?: ReadOptions,
): Promise<Seen<ContactRow>> {
  const contact = await tx.get(contactById, [id], options);
  if (contact === undefined) throw notFound("contact");
  if (contact.merged_into !== null) throw mergedAway(contact.merged_into);
  return contact;
}

export function mergedAway(conflictingId: string): TidingsError {
  return new TidingsError(
    "conflict",
    "The contact was merged into another one: ask for that one.",
    { conflictingId },
  );
}

/**
 * The contact whose history is asked for: of a merged one, the one that has it now.
 * @throws TidingsError `not_found`
 */
export async function contactToRead(reads: Pick<Tx, "get">, id: string): Promise<Seen<ContactRow>> {
  const contact = await findSurvivor(reads, id);
  if (contact === undefined) throw notFound("contact");
  return contact;
}
