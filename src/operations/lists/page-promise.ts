import type { Page } from "../../kernel/index.ts";

/**
 * What a list returns. `await` gives its first page. `for await` goes over all items of the list,
 * page by page. It reads a page when the loop needs it.
 */
export interface PagePromise<Item, OnePage extends Page<Item> = Page<Item>>
  extends Promise<OnePage>, AsyncIterable<Item> {}

/** Reads the first page at once. `read` gets the cursor of a page, which the first one lacks. */
export function pagePromise<Item, OnePage extends Page<Item>>(
  read: (cursor?: string) => Promise<OnePage & Page<Item>>,
): PagePromise<Item, OnePage> {
  const first = read();
  async function* items(): AsyncGenerator<Item, void> {
    let page = await first;
    yield* page.data;
    while (page.next_cursor !== null) {
      page = await read(page.next_cursor);
      yield* page.data;
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}
