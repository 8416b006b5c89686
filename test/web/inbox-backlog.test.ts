/** What the inbox has of a thread, when messages took places of it that no event told of. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Backlog } from "../../adapters/web/inbox/browser/state/backlog.ts";
import { runs } from "../support/runs.ts";

const pageSize = 3;
const waitingFrom = 1_000;

interface Item {
  readonly id: string;
  /** Lists begin with the highest. Those above `waitingFrom` wait for their time. */
  readonly sequence: number;
}

const isWaiting = ({ sequence }: Item): boolean => sequence > waitingFrom;
const timeOf = ({ sequence }: Item): string => new Date(sequence).toISOString();

/** A conversation on the server, and what a page has of it. */
function conversation() {
  const items = new Map<string, Item>();
  let last = 0;
  const put = (id: string, from = 0): void => void items.set(id, { id, sequence: from + last });
  const listed = (): readonly Item[] =>
    [...items.values()].toSorted((a, b) => b.sequence - a.sequence);
  const backlog = new Backlog<Item, { readonly id: string; readonly at: string }>({
    pageSize,
    read: async (cursor, limit) => {
      const left = listed().filter(({ sequence }) => sequence < Number(cursor ?? Infinity));
      const data = left.slice(0, limit);
      const has_more = left.length > limit;
      return { data, has_more, next_cursor: has_more ? String(data.at(-1)?.sequence) : null };
    },
    entryOf: (item) => ({ id: item.id, at: timeOf(item) }),
    timeOf,
    isWaiting,
    stopped: new AbortController().signal,
  });
  return {
    backlog,
    ids: () => listed().map(({ id }) => id),
    write: () => put(`msg_${String(++last).padStart(3, "0")}`),
    writeForLater: () => put(`msg_${String(++last).padStart(3, "0")}`, waitingFrom),
    sendFirst() {
      const first = listed().findLast(isWaiting);
      last++;
      if (first !== undefined) put(first.id);
    },
  };
}

const changes = ["write", "writeForLater", "sendFirst", "refresh", "more"] as const;

it("has each message once and in its place after it was read again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...changes), { maxLength: 40 }), async (made) => {
      const { backlog, ids, ...server } = conversation();
      for (const change of made) {
        if (change === "refresh" || change === "more") await backlog[change]();
        else server[change]();
      }
      await backlog.refresh();
      while (!backlog.isComplete.value) await backlog.more();
      expect(backlog.entries.value.map(({ id }) => id).toReversed()).toEqual(ids());
    }),
    { numRuns: runs(3_000, 300) },
  );
});
