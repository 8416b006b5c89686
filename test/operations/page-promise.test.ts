import { expect, it } from "vitest";
import { pagePromise, type PagePromise } from "../../src/operations/index.ts";

/** A list of three pages, one of which is empty, as a filtered page can be. */
function threePages(): { list: PagePromise<number>; read: (string | undefined)[] } {
  const read: (string | undefined)[] = [];
  const pages = new Map<string | undefined, [data: number[], next: string | null]>([
    [undefined, [[1, 2], "second"]],
    ["second", [[], "third"]],
    ["third", [[3], null]],
  ]);
  const list = pagePromise((cursor) => {
    read.push(cursor);
    const page = pages.get(cursor);
    if (page === undefined) return Promise.reject(new Error(`There is no page ${cursor}.`));
    const [data, next_cursor] = page;
    return Promise.resolve({ data, has_more: next_cursor !== null, next_cursor });
  });
  return { list, read };
}

it("gives its first page when it is awaited, and reads no other", async () => {
  const { list, read } = threePages();
  expect((await list).data).toEqual([1, 2]);
  expect(read).toEqual([undefined]);
});

it("gives the items of all pages to a loop, each time that it is looped over", async () => {
  const { list, read } = threePages();
  expect(await Array.fromAsync(list)).toEqual([1, 2, 3]);
  expect(await Array.fromAsync(list)).toEqual([1, 2, 3]);
  expect(read).toEqual([undefined, "second", "third", "second", "third"]);
});

it("reads no page that the loop does not reach", async () => {
  const { list, read } = threePages();
  for await (const item of list) if (item === 2) break;
  expect(read).toEqual([undefined]);
});

it("throws the error of a page in the loop, after the items before it", async () => {
  const list = pagePromise((cursor) =>
    cursor === undefined
      ? Promise.resolve({ data: [1], has_more: true, next_cursor: "second" })
      : Promise.reject(new Error("The storage is gone.")),
  );
  const seen: number[] = [];
  const looped = (async () => {
    for await (const item of list) seen.push(item);
  })();
  await expect(looped).rejects.toThrow("The storage is gone.");
  expect(seen).toEqual([1]);
});
