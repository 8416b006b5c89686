import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom } from "../../adapters/testing/index.ts";
import { schema } from "../../src/modules.ts";
import { LaneRing } from "../../src/queue/dispatcher/lane-ring.ts";
import { encodeLane, limitOf, remoteOf, type Lane } from "../../src/queue/jobs/lane.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { unscopedReads } from "../../src/store/reads/reads.ts";
import { runs } from "../support/runs.ts";
import { job } from "./job-row.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");

const scope = fc.record({
  account_id: fc.integer({ min: 10, max: 30 }).map((n) => `acct_${n}` as const),
  mode: fc.constant("live" as const),
});
const slow = fc.boolean();
const remotes = ["a", "ab", "b"] as const;
const remote = fc.constantFrom(...remotes);
/** A lane under the limit of a carrier or of all consumers, or under none. */
const anyLane: fc.Arbitrary<Lane> = fc.oneof(
  fc.record({ scope, slow, remote }).map(({ scope: own, ...of }) => ({
    kind: "send" as const,
    ...of,
    ...own,
    waiting_for: null,
    class: "single" as const,
  })),
  fc
    .record({ kind: fc.constantFrom("follow-up", "score"), scope, slow, remote })
    .map(({ scope: own, ...of }) => ({ ...of, ...own })),
  fc.record({ kind: fc.constant("consume" as const), slow, consumer: fc.constantFrom("c", "d") }),
  fc.record({ kind: fc.constantFrom("wake", "merge", "throttle"), slow }),
);
/** Some lanes, each with more jobs than have room at once, or with fewer. */
const anyLanes = fc.uniqueArray(
  fc.record({ lane: anyLane, count: fc.integer({ min: 1, max: 40 }) }),
  {
    selector: ({ lane }) => encodeLane(lane),
    minLength: 1,
    maxLength: 60,
  },
);

interface Searched {
  /** How many jobs may start under each limit. */
  readonly room: number;
  /** How many jobs may start in all. */
  readonly free: number;
  /** The remotes that other engines serve. */
  readonly left?: readonly string[];
}

async function ringOf(lanes: readonly { readonly lane: Lane; readonly count: number }[]) {
  const storage = memory();
  await storage.open(schema);
  const rows = lanes.flatMap(({ lane, count }) =>
    Array.from({ length: count }, (_, i) => ({
      ...job(`${encodeLane(lane)} ${i}`, "", now - 1_000),
      kind: lane.kind,
      lane: encodeLane(lane),
    })),
  );
  await storage
    .begin()
    .commit(rows.map((row) => ({ kind: "insert", collection: jobs, row: { ...row, version: 1 } })));
  const ring = new LaneRing(unscopedReads(storage.reader), "work");
  return {
    ring,
    search: ({ room, free, left = [] }: Searched) => {
      const freeUnderLimit = (lane: Lane): number =>
        limitOf(lane) === undefined ? Infinity : room;
      const freeIn = (lane: Lane): number => Math.min(4, freeUnderLimit(lane));
      const waitForOthersMs = (lane: Lane): number =>
        left.includes(remoteOf(lane) ?? "") ? Infinity : 0;
      const all = { spread: 1, nextPick: () => 0 };
      return ring.read({ ...all, now, free, freeIn, freeUnderLimit, waitForOthersMs });
    },
  };
}

it("reads each lane in a round in which there is room for all, whatever was read before", async () => {
  const before = fc.record({
    room: fc.integer({ min: 0, max: 3 }),
    free: fc.integer({ min: 1, max: 8 }),
    left: fc.subarray([...remotes]),
    isNewRound: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(anyLanes, fc.array(before), async (lanes, searches) => {
      const { ring, search } = await ringOf(lanes);
      for (const { isNewRound, ...some } of searches) {
        if (isNewRound) ring.beginRound();
        await search(some);
      }
      ring.beginRound();
      const seen = new Set<string>();
      for (let isOver = false, count = 0; !isOver; count++) {
        expect(count, "searches of one round").toBeLessThan(20);
        const { found, hasReadAllLanes } = await search({ room: 1_000, free: 1_000 });
        for (const { lane } of found) seen.add(encodeLane(lane));
        isOver = hasReadAllLanes;
      }
      expect([...seen].toSorted()).toEqual(lanes.map(({ lane }) => encodeLane(lane)).toSorted());
    }),
    { numRuns: runs(50) },
  );
});

it("gives each lane a turn, though there is room for few jobs or none under each limit", async () => {
  await fc.assert(
    fc.asyncProperty(anyLanes, fc.nat(), async (lanes, seed) => {
      const random = seededRandom(seed);
      const { ring, search } = await ringOf(lanes);
      const left = new Set(lanes.map(({ lane }) => encodeLane(lane)));
      for (let count = 0; left.size > 0; count++) {
        expect(count, `searches, and these lanes are left: ${[...left].join(", ")}`).toBeLessThan(
          100 + 40 * lanes.length,
        );
        const [drawn = 0] = random.bytes(1);
        ring.beginRound();
        const room = drawn % 4;
        const { found } = await search({ room, free: 2 });
        const underLimits = new Map<string, number>();
        const starts = found.filter(({ lane }) => {
          const limit = limitOf(lane);
          if (limit === undefined) return true;
          const count = underLimits.get(limit) ?? 0;
          underLimits.set(limit, count + 1);
          return count < room;
        });
        for (const { lane } of starts.slice(0, 2)) left.delete(encodeLane(lane));
      }
    }),
    { numRuns: runs(50) },
  );
});
