import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Scope } from "../../src/kernel/ids.ts";
import { page, type RangeList } from "../../src/operations/lists/pagination.ts";
import { type KeyValue, type RowOf } from "../../src/ports/collection.ts";
import { scoped, text, time } from "../../src/ports/define-collection.ts";
import type { Reader, Row } from "../../src/ports/storage.ts";
import { unscopedReads, type Reads } from "../../src/store/reads/reads.ts";

const letters = scoped("letters", { id: text(), box: text(), at: time() });
type Letter = RowOf<typeof letters>;
letters.key("id");
const byTime = letters.index("by_time", ["box", "at"]);

const account = (id: string, mode: Scope["mode"] = "live"): Scope => ({
  account_id: `acct_${id}`,
  mode,
});

/** The contract of `Reader.range` over a plain array. */
function readerOf(rows: readonly Letter[]): Reads {
  const compare = (a: readonly KeyValue[], b: readonly KeyValue[]): number => {
    for (const [i, x] of a.entries()) {
      const y = b[i];
      if (y === undefined || x === y) continue;
      return x !== null && y !== null && x < y ? -1 : 1;
    }
    return 0;
  };
  const position = ({ at, id }: Letter): readonly KeyValue[] => [at, id];
  const reader: Reader = {
    get: () => Promise.reject(new Error("not asked for here")),
    search: () => Promise.resolve([]),
    range: ({ prefix: [, , box], order, after, limit }) => {
      const sign = order === "ascending" ? 1 : -1;
      const walked = rows
        .filter((row) => row.box === box)
        .toSorted((a, b) => sign * compare(position(a), position(b)))
        .filter((row) => after === undefined || sign * compare(position(row), after) > 0)
        .slice(0, limit);
      return Promise.resolve(walked.map((row): Row => ({ ...row, version: 1 })));
    },
  };
  return unscopedReads(reader).in(account("1"));
}

const callOf = (scope: Scope): Parameters<typeof page>[2] => ({
  scope,
  services: { secret: createSecretKey(new Uint8Array(32).fill(7)) },
});
const walk = (
  order: RangeList<Letter>["order"],
  limit: number,
  cursor?: string | null,
): RangeList<Letter> => ({
  operation: "letters.list",
  index: byTime,
  prefix: ["a"],
  order,
  filters: { box: "a", label: undefined },
  input: { limit, cursor: cursor ?? undefined },
});

const letter = fc.record({ at: fc.integer({ min: 0, max: 5 }), box: fc.constantFrom("a", "b") });

test("pages show every unchanged row exactly once, in order, while others are added", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(letter, { maxLength: 30 }),
      fc.array(fc.array(letter, { maxLength: 4 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("ascending" as const, "descending" as const),
      async (first, later, limit, order) => {
        let count = 0;
        const rows: Letter[] = [];
        const add = (each: readonly { at: number; box: string }[]): void => {
          for (const { at, box } of each) {
            rows.push({
              ...account("1"),
              at,
              box,
              id: `l_${String((count++ * 7919) % 1000).padStart(4, "0")}`,
            });
          }
        };
        add(first);
        const still = rows.filter(({ box }) => box === "a").map(({ id }) => id);
        const seen: Letter[] = [];
        for (let cursor: string | null | undefined, i = 0; cursor !== null; i++) {
          const { data, has_more, next_cursor } = await page(
            readerOf(rows),
            walk(order, limit, cursor),
            callOf(account("1")),
          );
          seen.push(...data);
          expect(data.length, `A page has at most ${limit} items.`).toBeLessThanOrEqual(limit);
          expect(has_more, "A page has a cursor exactly if there is more.").toBe(
            next_cursor !== null,
          );
          cursor = next_cursor;
          add(later[i] ?? []);
        }
        const ids = seen.map(({ id }) => id);
        expect(new Set(ids).size, `No item is on two pages: ${ids.join(", ")}.`).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(still));
        const sign = order === "ascending" ? 1 : -1;
        expect(ids).toEqual(
          seen
            .toSorted((a, b) => sign * (a.at - b.at || (a.id < b.id ? -1 : 1)))
            .map(({ id }) => id),
        );
      },
    ),
  );
});

test("a cursor of another operation, filter, account or mode and a forged one are rejected", async () => {
  const reader = readerOf(
    [1, 2, 3].map((at) => ({ ...account("1"), id: `l_${at}`, box: "a", at })),
  );
  const { next_cursor } = await page(reader, walk("descending", 1), callOf(account("1")));
  const cursor = next_cursor ?? "";
  const same = walk("descending", 2, cursor);
  await expect(page(reader, same, callOf(account("1")))).resolves.toMatchObject({
    has_more: false,
  });

  const flipped = `${cursor.slice(0, 20)}${cursor[20] === "A" ? "B" : "A"}${cursor.slice(21)}`;
  const refused = [
    page(reader, same, callOf(account("2"))),
    page(reader, same, callOf(account("1", "sandbox"))),
    page(reader, { ...same, operation: "letters.search" }, callOf(account("1"))),
    page(reader, { ...same, filters: { box: "a", label: "x" } }, callOf(account("1"))),
    ...[
      flipped,
      "",
      "%",
      `${cursor}=`,
      ` ${cursor}`,
      `${cursor.slice(0, 4)}!${cursor.slice(4)}`,
      "AAAA",
    ].map((forged) => page(reader, walk("descending", 1, forged), callOf(account("1")))),
  ];
  for (const each of refused) {
    await expect(each).rejects.toSatisfy(
      (error) => error instanceof TidingsError && error.code === "invalid_cursor",
    );
  }
});

test("every invalid cursor is answered with invalid_cursor", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (cursor) => {
      await expect(
        page(readerOf([]), walk("ascending", 5, cursor), callOf(account("1"))),
      ).rejects.toMatchObject({
        code: "invalid_cursor",
      });
    }),
  );
});
