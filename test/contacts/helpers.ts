/** Helpers for tests of contacts. */
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { Contact } from "../../src/contacts/types.ts";
import type { ImportContact, ImportReport } from "../../src/contacts/import/import-types.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Page } from "../../src/kernel/page.ts";

/** All items of a list, page by page. */
export async function all<T>(
  list: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
  limit = 100,
): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await list({ limit, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.data);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
}

/** The reports of an import. */
export async function imported(
  contacts: AccountHandle["contacts"],
  rows: Iterable<ImportContact>,
): Promise<ImportReport[]> {
  const reports: ImportReport[] = [];
  for await (const report of contacts.import(rows)) reports.push(report);
  return reports;
}

/** All events in commit order. */
export async function everyEvent({ events }: Pick<AccountHandle, "events">): Promise<Event[]> {
  return (await all((page) => events.list(page))).toReversed();
}

/** The code of a call's error; "done" if it succeeded. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => (error instanceof TidingsError ? error.code : String(error)),
  );
}

export const addressesOf = ({ identities }: Contact): string[] =>
  identities.map(({ address }) => address).toSorted();
