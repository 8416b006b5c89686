/** Reads lists to their end. */
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { Page } from "../../src/kernel/page.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";

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

/** All events in commit order. */
export async function everyEvent({ events }: Pick<AccountHandle, "events">): Promise<Event[]> {
  return (await all((page) => events.list(page))).toReversed();
}
