import { contactById, type ContactRow } from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** The contact with this id: of a merged one, who it is now, which is merged into nobody. */
export async function findSurvivor(
  reads: Pick<Tx, "get">,
  id: string,
  options?: ReadOptions,
): Promise<Seen<ContactRow> | undefined> {
  const named = await reads.get(contactById, [id], options);
  const survivor = named?.merged_into ?? null;
  return survivor === null ? named : reads.get(contactById, [survivor], options);
}
