import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeLane } from "../../../src/queue/jobs/lane.ts";
import { jobs, jobsByLane } from "../../../src/queue/jobs/rows.ts";
import { Overlay } from "../../../src/store/transactions/overlay.ts";
import { noColumns, type Entry } from "../../../src/store/transactions/touched-rows.ts";
import { job, laneOf } from "../../queue/job-row.ts";

/** More rows than a search without an index looks through. */
const rows = 12;
const lanes = ["a", "b", "c"];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      row: fc.nat(rows - 1),
      /** Null removes the row. */
      lane: fc.option(fc.constantFrom(...lanes)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("list" as const), lane: fc.constantFrom(...lanes) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mark" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("roll back" as const) }) },
);

it("an overlay lists the rows of each place, also after writes were rolled back", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const overlay = new Overlay();
      let present = new Map<number, string>();
      let marked = { mark: overlay.mark(), present };
      const put = (n: number, lane: string | null): void => {
        const row = lane === null ? undefined : { ...job(`${n}`, lane, 0), version: 1 };
        const key = ["send", `${n}`];
        const entry: Entry = { key, base: undefined, row, changed: noColumns };
        overlay.put(jobs, entry);
        present = new Map(present);
        if (lane === null) present.delete(n);
        else present.set(n, lane);
      };
      for (let n = 0; n < rows; n++) put(n, "a");
      for (const each of steps) {
        if (each.kind === "put") put(each.row, each.lane);
        else if (each.kind === "mark") marked = { mark: overlay.mark(), present };
        else if (each.kind === "roll back") {
          overlay.rollBack(marked.mark);
          ({ present } = marked);
        } else {
          const found = overlay.under(jobsByLane, ["work", encodeLane(laneOf(each.lane))]);
          const names = found.map(({ key: [, n] }) => Number(n));
          const expected = [...present].filter(([, lane]) => lane === each.lane).map(([n]) => n);
          expect(new Set(names), `the rows in ${each.lane}`).toEqual(new Set(expected));
        }
      }
    }),
  );
});
