/** What the console computes from what it reads. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  graphOf,
  nodeHeight,
  nodeWidth,
} from "../../adapters/web/console/browser/agents/graph/graph.ts";
import { playedIn, takenPath } from "../../adapters/web/console/browser/agents/graph/taken-path.ts";
import { percentile, seriesOf } from "../../adapters/web/console/browser/overview/counts.ts";
import { PagedList } from "../../adapters/web/console/browser/paged.ts";
import type { Json, Page, PlaybookStep, PlaybookStepOutcome, RunStep } from "../../src/index.ts";

const bounds = [1, 5, 30];

test("a percentile lies in the bin that has it, and grows with its share", () => {
  const bins = fc.array(fc.nat(50), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(bins, (counts) => {
      const median = percentile(counts, bounds, 0.5);
      const slow = percentile(counts, bounds, 0.95);
      if (counts.every((count) => count === 0)) {
        expect([median, slow]).toEqual([null, null]);
        return;
      }
      expect(
        slow ?? 0,
        "The slowest twentieth is not faster than the median.",
      ).toBeGreaterThanOrEqual(median ?? 0);
      const samples = counts.flatMap((count, bin) => Array.from({ length: count }, () => bin));
      const middle = samples[Math.ceil(samples.length / 2) - 1] ?? 0;
      expect(median, "The median is above the lower bound of its bin.").toBeGreaterThanOrEqual(
        bounds[middle - 1] ?? 0,
      );
      expect(median, "The median is up to the upper bound of its bin.").toBeLessThanOrEqual(
        bounds[middle] ?? 30,
      );
    }),
  );
});

test("the buckets of a chart have each message once, and end with the last hour", () => {
  const hour = (index: number): string => new Date(index * 3_600_000).toISOString();
  const row = fc.record({ at: fc.nat(167), accepted: fc.nat(9), failed: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), fc.constantFrom(1, 6, 24), (rows, size) => {
      const data = rows.map(({ at, accepted, failed }) => ({
        hour: hour(at),
        channel: "sms" as const,
        accepted,
        failed,
        delivered: 0,
        received: 0,
        delivery_times: [0, 0, 0, 0],
      }));
      const usage = { from: hour(0), to: hour(167), delivery_bounds: bounds, data };
      const { times, counts, totals } = seriesOf(usage, size);
      expect(times.at(-1), `The last point is the last whole period of ${size} hours.`).toBe(
        168 * 3600 - size * 3600,
      );
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      expect(sum(counts.accepted), "Each accepted message is in one point.").toBe(
        sum(rows.map(({ accepted }) => accepted)),
      );
      expect(totals.failed, "The total has each failed message.").toBe(
        sum(rows.map(({ failed }) => failed)),
      );
    }),
  );
});

test("the graph of a playbook has each step once, apart from the others, and each edge between them", () => {
  const ids = Array.from({ length: 8 }, (_, index) => `s${index}`);
  const target = fc.option(fc.constantFrom(...ids), { nil: undefined });
  const step = fc.record({ next: target, on_fail: target, isLast: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 8, maxLength: 8 }), (drawn) => {
      const steps = drawn.map(({ next, on_fail, isLast }, index): PlaybookStep => {
        const id = ids[index] ?? "";
        if (isLast) return { id, type: "resolve" };
        return { id, type: "ask", slot: "day", retries: 1, next, on_fail };
      });
      const { nodes, edges, width, height } = graphOf(steps);
      expect(nodes.map((node) => node.step.id).toSorted()).toEqual(ids);
      for (const a of nodes) {
        expect(
          a.x >= 0 && a.x + nodeWidth <= width && a.y + nodeHeight <= height,
          `The step ${a.step.id} lies within the drawing.`,
        ).toBe(true);
        for (const b of nodes) {
          const isApart = Math.abs(a.x - b.x) >= nodeWidth || Math.abs(a.y - b.y) >= nodeHeight;
          expect(
            a === b || isApart,
            `The steps ${a.step.id} and ${b.step.id} do not overlap.`,
          ).toBe(true);
        }
      }
      const failing = drawn.filter(({ on_fail, isLast }) => !isLast && on_fail !== undefined);
      expect(
        edges.filter(({ kind }) => kind === "fail"),
        "Each way out of a failed question has an edge.",
      ).toHaveLength(failing.length);
    }),
  );
});

const at = (
  id: string,
  outcome: PlaybookStepOutcome,
  next: string | null,
  output: Json = null,
) => ({
  type: "playbook",
  name: id,
  input: null,
  output,
  error: null,
  started_at: "2026-03-02T09:00:00.000Z",
  duration_ms: 0,
  playbook: { id: pinned.id, version: pinned.version, outcome, next },
});
const pinned = { id: "pb_00000000000000000000000001", version: 2 } as const;

test("the highlighted path of a run has the edges that it took, even between steps with several edges", () => {
  const steps: PlaybookStep[] = [
    { id: "ask", type: "ask", slot: "guests", retries: 0, on_fail: "person" },
    {
      id: "size",
      type: "branch",
      cases: [
        { when: "guests > 8", next: "person" },
        { when: "guests < 1", next: "person" },
      ],
      next: "person",
    },
    { id: "person", type: "ask", slot: "why", retries: 0 },
  ];
  const { edges } = graphOf(steps);
  const taken = (run: readonly RunStep[]): unknown[] => {
    const path = takenPath(run, pinned);
    return edges.flatMap((edge) =>
      path.includes(edge) ? [[edge.from, edge.kind, edge.label ?? null]] : [],
    );
  };
  const said = at("ask", "answered", "size", 9);
  const decided = at("size", "condition", "person", "guests > 8");
  const asked = at("person", "asked", null);
  const other = { ...asked, playbook: { ...asked.playbook, version: 1 } };
  expect(taken([said, decided, asked])).toEqual([
    ["ask", "next", null],
    ["size", "case", "guests > 8"],
  ]);
  expect(taken([at("ask", "limit", "person"), asked])).toEqual([["ask", "fail", null]]);
  expect(taken([at("size", "otherwise", "person")])).toEqual([["size", "next", null]]);
  expect(takenPath([said, decided, asked], pinned).current).toBe("person");
  // Another version of the playbook is another graph.
  expect(takenPath([said, other], pinned)).toMatchObject({ current: undefined });
  expect(playedIn([said, other, asked])).toMatchObject([{ version: 2 }, { version: 1 }]);
});

test("a list that is read again has what is new, and keeps its later pages if no row lies between", async () => {
  const stored = Array.from("876543210", (id) => ({ id }));
  const list = new PagedList<{ id: string }>(async (cursor) => {
    const begin = stored.findIndex(({ id }) => id === cursor) + 1;
    const data = stored.slice(begin, begin + 3);
    const next_cursor = data.at(-1)?.id ?? null;
    return { data, has_more: begin + 3 < stored.length, next_cursor };
  });
  const shown = (): string => (list.state.value.rows ?? []).map(({ id }) => id).join("");
  await list.reload();
  await list.more();
  expect(shown()).toBe("876543");
  stored.unshift({ id: "9" });
  await list.refresh();
  expect(shown()).toBe("9876543");
  await list.more();
  expect(shown()).toBe("9876543210");
  stored.unshift(...Array.from("dcba", (id) => ({ id })));
  await list.refresh();
  expect(shown()).toBe("dcb");
  stored.unshift({ id: "e" });
  await Promise.all([list.refresh(), list.more()]);
  expect(shown(), "A person asks for more while the list is read again.").toBe("edcba98");
});

test("another try after a later page that failed reads that page, and keeps the rows before it", async () => {
  let isBroken = false;
  const list = new PagedList<{ id: string }>(async (cursor) => {
    if (isBroken) throw new Error("It failed.");
    const id = cursor === undefined ? "b" : "a";
    return { data: [{ id }], has_more: cursor === undefined, next_cursor: id };
  });
  await list.reload();
  isBroken = true;
  await list.more();
  expect(list.state.value).toMatchObject({ rows: [{ id: "b" }], error: new Error("It failed.") });
  isBroken = false;
  await list.retry();
  expect(list.state.value).toMatchObject({ rows: [{ id: "b" }, { id: "a" }], error: undefined });
});

test("a change of a row is kept when a page that was read before it arrives later", async () => {
  const read = Promise.withResolvers<Page<{ id: string; body: string | null }>>();
  const list = new PagedList(() => read.promise);
  const reading = list.reload();
  list.change("b", { body: null });
  const data = [
    { id: "b", body: "Card 4111" },
    { id: "a", body: "Hello" },
  ];
  read.resolve({ data, has_more: false, next_cursor: null });
  await reading;
  expect(list.state.value.rows).toEqual([
    { id: "b", body: null },
    { id: "a", body: "Hello" },
  ]);
});

test("a list that is no longer shown reads nothing more, also not what waited for its turn", async () => {
  const first = Promise.withResolvers<Page<{ id: string }>>();
  let reads = 0;
  const list = new PagedList(() => (++reads, first.promise));
  const leave = list.loadWhileShown();
  const refreshed = list.refresh();
  leave();
  first.resolve({ data: [], has_more: false, next_cursor: null });
  await refreshed;
  expect(reads).toBe(1);
});
