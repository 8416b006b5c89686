import { contactById, type ContactRow } from "../../domain/contacts/rows.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Scope } from "../../scope.ts";
import type { ReadOptions, Tx } from "../../transactions/transaction.ts";

/** The contact with this id: of a merged one, who it is now, which is merged into nobody. */
export async function findSurvivor(
  reads: Pick<Tx, "get">,
  { account_id, mode }: Scope,
  id: string,
  options?: ReadOptions,
): Promise<Seen<ContactRow> | undefined> {
  const named = await reads.get(contactById, [account_id, mode, id], options);
  const survivor = named?.merged_into ?? null;
  return survivor === null ? named : reads.get(contactById, [account_id, mode, survivor], options);
}
