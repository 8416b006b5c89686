/** Helpers for tests of contacts. */
import type { ImportContact, ImportReport } from "../../src/contacts/import/import-types.ts";
import type { Contact } from "../../src/contacts/types.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";

/** The reports of an import. */
export async function imported(
  contacts: AccountHandle["contacts"],
  rows: Iterable<ImportContact>,
): Promise<ImportReport[]> {
  const reports: ImportReport[] = [];
  for await (const report of contacts.import(rows)) reports.push(report);
  return reports;
}

export const addressesOf = ({ identities }: Contact): string[] =>
  identities.map(({ address }) => address).toSorted();
