import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../adapters/testing/index.ts";
import type { AccountId } from "../../src/kernel/index.ts";
import { schema } from "../../src/modules.ts";
import { DueJobs } from "../../src/queue/dispatcher/due-jobs.ts";
import { encodeLane, type Lane } from "../../src/queue/jobs/lane.ts";
import { jobs, type JobRow } from "../../src/queue/jobs/rows.ts";
import { unscopedReads } from "../../src/store/reads/reads.ts";
import { over } from "../support/over.ts";
import { runs } from "../support/runs.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { job, laneOf, nameOf } from "./job-row.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");

/** A search by an engine that has every remote, and in which no job was armed or picked yet. */
const anyJob = {
  freeUnderLimit: () => Infinity,
  nextPick: () => 0,
  waitForOthersMs: () => 0,
  spread: 1,
  armed: [],
};

describe.each(lightStorages)("due jobs on $name", ({ name, open }) => {
  async function search(rows: readonly JobRow[]): Promise<DueJobs> {
    return (await counted(rows)).due;
  }

  async function counted(
    rows: readonly JobRow[],
  ): Promise<{ due: DueJobs; read: { ranges: number; rows: number } }> {
    const storage = open().connect();
    await storage.open(schema);
    await storage
      .begin()
      .commit(
        rows.map((row) => ({ kind: "insert", collection: jobs, row: { ...row, version: 1 } })),
      );
    const read = { ranges: 0, rows: 0 };
    const reader: typeof storage.reader = over(storage.reader, {
      async range(range) {
        const found = await storage.reader.range(range);
        read.ranges++;
        read.rows += found.length;
        return found;
      },
    });
    return { due: new DueJobs(unscopedReads(reader), "work", seededRandom(1)), read };
  }

  it("of a lane with 10,000 do not delay another lane's single later one", async () => {
    const flood = Array.from({ length: 10_000 }, (_, n) =>
      job(`flood ${n}`, "flood", now - 10_000 + n),
    );
    const due = await search([...flood, job("other", "other", now)]);
    const turns = [
      await due.find({ ...anyJob, now, free: 4, freeIn: () => 4 }),
      await due.find({ ...anyJob, now, free: 4, freeIn: () => 4 }),
    ];
    expect(turns.flat().map(({ key }) => key)).toContain("other");
    expect(turns[0]).toHaveLength(4);
  });

  it("of a full lane do not delay another lane if other engines take them, too", async () => {
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "flood", now - 300 + n));
    const due = await search([...flood, job("other", "other", now)]);
    const found: string[] = [];
    // Each lane has its turn in one of two searches, also with room for one job only.
    for (let turn = 0; turn < 2; turn++) {
      const jobs = await due.find({ ...anyJob, now, free: 1, freeIn: () => 1, spread: 4 });
      found.push(...jobs.map(({ key }) => key));
    }
    expect(found).toContain("other");
  });

  it("of several full lanes fill the room, also if other engines take them, too", async () => {
    const rows = ["a", "b", "c", "d"].flatMap((lane, i) =>
      Array.from({ length: 64 }, (_, n) => job(`${lane} ${n}`, lane, now - 400 + 64 * i + n)),
    );
    const due = await search(rows);
    for (const spread of [1, 4]) {
      const found = await due.find({ ...anyJob, now, free: 8, freeIn: () => 2, spread });
      expect(new Set(found.map(({ lane }) => nameOf(lane))).size).toBe(4);
      expect(found).toHaveLength(8);
    }
  });

  describe("of many accounts at one carrier", () => {
    const accounts = Array.from({ length: 32 }, (_, n) => `acct_${10 + n}` as const);
    const laneAt = (account_id: AccountId) => encodeLane({ ...laneOf("slow"), account_id });
    /** More of each account than its lane takes, and one of another carrier. */
    const backlog = [
      ...accounts.flatMap((account, n) =>
        Array.from({ length: 20 }, (_, i) => ({
          ...job(`${account} ${i}`, "slow", now - 1_000 + n),
          lane: laneAt(account),
        })),
      ),
      job("other", "z other", now),
    ];
    const isSlow = (lane: Lane): boolean => nameOf(lane) === "slow";

    it("cost few reads while the carrier has no room", async () => {
      const { due, read } = await counted(backlog);
      const full = (lane: Lane): number => (isSlow(lane) ? 0 : 4);
      for (let search = 0; search < 4; search++) {
        read.ranges = 0;
        due.noteChange();
        const found = await due.find({
          ...anyJob,
          now,
          free: 4,
          freeIn: full,
          freeUnderLimit: full,
        });
        expect(found.map(({ key }) => key)).toEqual(["other"]);
        expect(due.hasReadAllLanes).toBe(true);
        expect(read.ranges).toBeLessThan(8);
      }
    });

    it("cost few reads while they are left to other engines", async () => {
      const { due, read } = await counted(backlog);
      const waitForOthersMs = (lane: Lane): number => (isSlow(lane) ? Infinity : 0);
      for (let search = 0; search < 4; search++) {
        read.ranges = 0;
        due.noteChange();
        const found = await due.find({
          ...anyJob,
          waitForOthersMs,
          now,
          free: 4,
          freeIn: () => 4,
        });
        expect(found.map(({ key }) => key)).toEqual(["other"]);
        expect(due.hasMore).toBe(false);
        expect(due.hasReadAllLanes).toBe(true);
        expect(read.ranges).toBeLessThan(8);
      }
    });

    it("let another carrier have its turn, though each search has room for one job", async () => {
      const due = await search(backlog);
      const turns: string[] = [];
      for (const [free, room] of [[4, 0], ...Array.from({ length: 6 }, () => [1, 8])] as const) {
        const limit = (lane: Lane): number => (isSlow(lane) ? room : Infinity);
        const freeIn = (lane: Lane): number => Math.min(limit(lane), 4);
        due.noteChange();
        const found = await due.find({ ...anyJob, now, free, freeIn, freeUnderLimit: limit });
        turns.push(...found.map(({ lane }) => nameOf(lane)));
      }
      expect(turns).toHaveLength(7);
      expect(turns.filter((turn) => turn === "slow")).toHaveLength(3);
    });

    it("are picked by class within an account, though the carrier has room for one only", async () => {
      const mailing = Array.from({ length: 200 }, (_, n) =>
        job(`item ${n}`, "slow", now - 1_000 + n, "batch"),
      );
      const due = await search([...mailing, job("single", "slow", now)]);
      const one = { freeIn: () => 1, freeUnderLimit: () => 1 };
      const [first] = await due.find({ ...anyJob, ...one, now, free: 4 });
      expect(first?.key).toBe("single");
    });

    it("have their turns one after the other if the carrier has room for one at a time", async () => {
      const due = await search(backlog);
      const turns: string[] = [];
      while (turns.length < 2 * accounts.length) {
        for (const room of [1, 0]) {
          const limit = (lane: Lane): number => (isSlow(lane) ? room : Infinity);
          const freeIn = (lane: Lane): number => Math.min(limit(lane), 4);
          due.noteChange();
          const found = await due.find({ ...anyJob, now, free: 4, freeIn, freeUnderLimit: limit });
          const first = found.find(({ lane }) => isSlow(lane));
          if (first?.lane.kind === "send") turns.push(first.lane.account_id);
        }
      }
      expect(accounts.map((each) => turns.filter((turn) => turn === each).length)).toEqual(
        accounts.map(() => 2),
      );
    });

    it.each([[[1]], [[1, 0]]])(
      "have their turns whatever their kind and speed are, with room for %j",
      async (rooms) => {
        const scope = { account_id: "acct_1", mode: "live", remote: "slow" } as const;
        const lanes: readonly Lane[] = [
          laneOf("slow"),
          { ...laneOf("slow"), slow: true },
          { ...scope, kind: "follow-up", slow: false },
          { ...scope, kind: "score", slow: false },
        ];
        const rows = lanes.flatMap((lane, n) =>
          Array.from({ length: 100 }, (_, i) => ({
            ...job(`${n} ${i}`, "slow", now - 1_000 + n),
            kind: lane.kind,
            lane: encodeLane(lane),
          })),
        );
        const due = await search([...rows, job("other", "other", now)]);
        const turns: string[] = [];
        while (turns.length < 24) {
          for (const room of rooms) {
            const isLimited = (lane: Lane): boolean => "remote" in lane && lane.remote === "slow";
            const limit = (lane: Lane): number => (isLimited(lane) ? room : Infinity);
            const freeIn = (lane: Lane): number => Math.min(limit(lane), 4);
            due.noteChange();
            const some = { now, free: 8, freeIn, freeUnderLimit: limit };
            const found = await due.find({ ...anyJob, ...some });
            const first = found.filter(({ lane }) => isLimited(lane)).slice(0, room);
            turns.push(...first.map(({ lane }) => encodeLane(lane)));
          }
        }
        expect(
          lanes.map((lane) => turns.filter((each) => each === encodeLane(lane)).length),
        ).toEqual(lanes.map(() => 6));
      },
    );
  });

  it("are found among thousands of lanes without due jobs", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "z flood", now - n));
    const due = await search([...later, ...flood]);
    for (let turn = 0; turn < 3; turn++) {
      expect(await due.find({ ...anyJob, now, free: 8, freeIn: () => 8 })).toHaveLength(8);
    }
  });

  it("are cheap to find beside one full lane and thousands of lanes without due jobs", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "z flood", now - n));
    const { due, read } = await counted([...later, ...flood]);
    for (const free of [16, 1, 0, 0]) {
      read.ranges = read.rows = 0;
      expect(
        await due.find({
          ...anyJob,
          now,
          free: 64,
          freeIn: (lane) => (nameOf(lane) === "z flood" ? free : 16),
        }),
      ).toHaveLength(free);
      expect(read.ranges).toBeLessThan(100);
      expect(read.rows).toBeLessThan(1_000);
    }
  });

  it("of one lane take four reads, however many wait", async () => {
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "flood", now - n));
    const { due, read } = await counted(flood);
    for (let turn = 0; turn < 3; turn++) {
      read.ranges = 0;
      expect(await due.find({ ...anyJob, now, free: 64, freeIn: () => 64 })).toHaveLength(64);
      expect(read.ranges).toBe(4);
    }
  });

  it("are picked at random among more of a lane if other engines take them, too", async () => {
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "flood", now - 300 + n));
    const due = await search(flood);
    const picks: (readonly string[])[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const found = await due.find({ ...anyJob, now, free: 64, freeIn: () => 64, spread: 4 });
      picks.push(found.map(({ key }) => key));
    }
    const [one = [], other = []] = picks;
    const first = new Set(flood.slice(0, 256).map(({ key }) => key));
    for (const pick of picks) {
      expect(new Set(pick).size).toBe(64);
      expect(pick.filter((key) => !first.has(key))).toEqual([]);
    }
    // By chance, two engines pick about a quarter in common.
    expect(one.filter((key) => other.includes(key)).length).toBeLessThan(32);
  });

  it("of a quiet lane are found behind a full lane and thousands of lanes without due jobs", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) =>
      job(`flood ${n}`, "b flood", now - 1_000 - n),
    );
    const { due } = await counted([...later, ...flood, job("quiet", "a lane 2999", now)]);
    for (const free of [0, 1]) {
      const found: string[] = [];
      for (let n = 0; n < 30 && !found.includes("quiet"); n++) {
        found.push(
          ...(
            await due.find({
              ...anyJob,
              now,
              free: 1,
              freeIn: (lane) => (nameOf(lane) === "b flood" ? free : 16),
            })
          ).map(({ key }) => key),
        );
      }
      expect(found).toContain("quiet");
    }
  });

  it("of a better class come first, though a mailing of the same account fills the window", async () => {
    const mailing = Array.from({ length: 300 }, (_, n) =>
      job(`mailing ${n}`, "b", now - 1_000 + n, "marketing_batch"),
    );
    const others = Array.from({ length: 40 }, (_, n) => job(`other ${n}`, `a lane ${n}`, now));
    const due = await search([...mailing, ...others, job("code", "b", now, "single")]);
    // With room for one job, a search reads few lanes, but all classes of an account.
    for (let turn = 0; turn < 42; turn++) {
      const [found] = await due.find({ ...anyJob, now, free: 1, freeIn: () => 1 });
      if (found?.lane.kind === "send" && found.lane.remote === "b") {
        return expect(found.key).toBe("code");
      }
    }
    expect.fail("the account had no turn");
  });

  it("of two classes of an account take one turn among other accounts", async () => {
    const rows = Array.from({ length: 10 }, (_, n) => [
      job(`mailing ${n}`, "a", now, "batch"),
      job(`code ${n}`, "a", now, "single"),
      job(`other ${n}`, "b", now),
    ]).flat();
    const due = await search(rows);
    const found = await due.find({ ...anyJob, now, free: 8, freeIn: () => 8 });
    expect(found.filter(({ lane }) => nameOf(lane) === "b")).toHaveLength(4);
  });

  it("are all found, within the limits of the lanes, and lanes are served in rotation", async () => {
    const lanes = ["a", "b", "c", "d"] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            lane: fc.constantFrom(...lanes),
            due: fc.integer({ min: -1_000, max: 200 }),
          }),
          {
            maxLength: 60,
            size: "max",
          },
        ),
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        async (drawn, caps, free, flooded) => {
          const flood = flooded
            ? Array.from({ length: 256 }, (_, n) => job(`flood ${n}`, "b", now - 2_000))
            : [];
          const rows = [
            ...flood,
            ...drawn.map(({ lane, due }, n) => job(String(n), lane, now + due)),
          ];
          const capOf = (lane: Lane): number =>
            caps[lanes.findIndex((each) => each === nameOf(lane))] ?? 0;
          const found = await (await search(rows)).find({ ...anyJob, now, free, freeIn: capOf });
          const byKey = new Map(rows.map((row) => [row.key, row]));
          const taken = found.map(({ key }) => byKey.get(key) ?? job("", "", Infinity));
          expect(new Set(taken).size, "A job is found at most once.").toBe(taken.length);
          expect(
            taken.every(({ due_at }) => due_at <= now),
            "Only jobs that are due are found.",
          ).toBe(true);
          const room = lanes.map((lane) =>
            Math.min(
              capOf(laneOf(lane)),
              rows.filter((row) => row.lane === encodeLane(laneOf(lane)) && row.due_at <= now)
                .length,
            ),
          );
          expect(
            taken,
            "All due jobs are found that there is room for, and no others.",
          ).toHaveLength(
            Math.min(
              free,
              room.reduce((a, b) => a + b, 0),
            ),
          );
          if (flooded) return;
          // Rotation: no lane has two more than another that had more jobs due.
          const counts = lanes.map(
            (lane) => taken.filter((each) => each.lane === encodeLane(laneOf(lane))).length,
          );
          for (const [i, count] of counts.entries()) {
            if (count < (room[i] ?? 0)) {
              expect(
                Math.max(...counts) - count,
                `No lane gets two more than one that has more: ${counts.join(", ")}.`,
              ).toBeLessThanOrEqual(1);
            }
          }
        },
      ),
      { numRuns: runs({ memory: 40, SQLite: 40, PostgreSQL: 8 }[name], 12) },
    );
  });
});
