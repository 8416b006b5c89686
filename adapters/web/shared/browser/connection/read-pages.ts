import type { Page } from "../../../../../src/index.ts";
import { api, type Query } from "./http.ts";

/** The maximum page size of the API. */
const pageSize = 100;

export interface ReadPages<Item> {
  /** In the order of the list. */
  readonly items: readonly Item[];
  /** Whether the list has more than were read. */
  readonly hasMore: boolean;
}

/** Reads the first pages of a list: 1,000 items unless the caller says otherwise. */
export async function readPages<Item>(
  path: string,
  query: Query,
  signal: AbortSignal,
  maxPages = 10,
): Promise<ReadPages<Item>> {
  const items: Item[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: Page<Item> = await api.get<Page<Item>>(path, {
      query: { ...query, limit: pageSize, cursor },
      signal,
    });
    items.push(...page.data);
    cursor = page.next_cursor;
    pages += 1;
  } while (cursor !== null && pages < maxPages);
  return { items, hasMore: cursor !== null };
}
