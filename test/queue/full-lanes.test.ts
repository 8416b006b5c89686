/** How often a dispatcher reads lanes that are full, and that it misses no job meanwhile. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom } from "../../adapters/testing/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { schema } from "../../src/modules.ts";
import { DueJobs } from "../../src/queue/dispatcher/due-jobs.ts";
import { dueJob, type DueJob } from "../../src/queue/dispatcher/round-robin.ts";
import { decodeLane, type Lane } from "../../src/queue/jobs/lane.ts";
import { jobs, type JobRow } from "../../src/queue/jobs/rows.ts";
import { unscopedReads } from "../../src/store/reads/reads.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { job, laneOf, nameOf } from "./job-row.ts";

const accounts = 40;
const perAccount = 20;

/** Sends each account's messages to a carrier that hangs, more than its lanes take. */
async function flood(engine: MessagingEngine): Promise<void> {
  for (let n = 0; n < accounts; n++) {
    const { account } = await engine.accounts.create({ name: `hung ${n}` });
    const { senders, messages } = engine.account(account.id);
    await senders.create({
      address: `+1777000${1_000 + n}`,
      channels: ["sms"],
      transport: "hung",
      default: true,
    });
    await Promise.all(
      Array.from({ length: perAccount }, (_, i) =>
        messages.send({ to: `+1500444${1_000 + i}`, body: "x" }),
      ),
    );
  }
}

describe("while a carrier hangs and the lanes of 40 accounts are full, an engine", () => {
  async function opened() {
    const { clock, engine, started } = world();
    const storage = memory();
    let ranges = 0;
    const reader: typeof storage.reader = over(storage.reader, {
      range(range) {
        ranges++;
        return storage.reader.range(range);
      },
    });
    const hung = carrier({ name: "hung", send: () => new Promise(() => {}) });
    const healthy = carrier();
    // A storage without notifications, so that only a poll finds the jobs of other engines.
    const own = over(storage, { reader, watch: () => () => {} });
    const one = await started(own, {
      transports: [hung, healthy],
      concurrency: 32,
      laneConcurrency: 16,
    });
    await flood(one);
    await clock.advance(2_000);
    const other = engine(storage, { transports: [hung, healthy] });
    return { clock, one, other, hung, healthy, ranges: () => ranges };
  }

  it("makes fewer than 20 reads a second, since nothing can start", async () => {
    const { clock, ranges, hung } = await opened();
    const [before, calls] = [ranges(), hung.calls.length];
    await clock.advance(10_000);
    expect(hung.calls).toHaveLength(calls);
    expect((ranges() - before) / 10).toBeLessThan(20);
  });

  it("hands messages to another carrier at once, also just after it polled", async () => {
    const { clock, one, healthy } = await opened();
    for (let n = 0; n < 4; n++) {
      await clock.advance(1_777);
      await one.messages.send({ to: `+1500555000${n}`, body: "Hi" });
      await clock.settle();
      expect(healthy.calls.map(({ at }) => at).at(-1)).toBe(clock.now());
    }
  });

  it("hands a scheduled message over on time", async () => {
    const { clock, one, healthy } = await opened();
    const at = clock.now() + 7_300;
    const send_at = new Date(at).toISOString();
    await one.messages.send({ to: "+15005550001", body: "Hi", send_at });
    await clock.advance(9_000);
    expect(healthy.calls).toHaveLength(1);
    expect((healthy.calls[0]?.at ?? 0) - at).toBeLessThan(500);
  });

  it("finds a message that another process has queued at its next poll", async () => {
    const { clock, other, healthy } = await opened();
    await other.messages.send({ to: "+15005550001", body: "Hi" });
    await clock.advance(5_500);
    expect(healthy.calls).toHaveLength(1);
  });

  it("takes the next messages when the calls have passed their deadline", async () => {
    const { clock, hung } = await opened();
    const calls = hung.calls.length;
    await clock.advance(26_000);
    expect(hung.calls.length).toBeGreaterThan(calls);
  });
});

/** Lanes that take a page each, so that a round takes several searches. */
const lanes = Array.from({ length: 36 }, (_, n) => `lane ${String(n).padStart(2, "0")}`);
const start = Date.parse("2026-01-01T00:00:00.000Z");

/**
 * What may happen between two searches, or during one. `arm`: another process arms a job that is
 * due in this many milliseconds. `add`: this process arms one that is due. `free`: some slots of
 * the lane are freed. `pass`: time passes, or the clock is set back.
 */
const lane = fc.nat(lanes.length - 1).map((n) => lanes[n] ?? "");
const happening = fc.oneof(
  fc.record({
    does: fc.constant("arm" as const),
    lane,
    inMs: fc.constantFrom(0, 10, 30, 60, 3_000, 20_000),
  }),
  fc.record({ does: fc.constant("add" as const), lane }),
  fc.record({ does: fc.constant("free" as const), lane, slots: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    does: fc.constant("pass" as const),
    ms: fc.constantFrom(10, 30, 1_000, 6_000, -500, -4_000),
  }),
);
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/**
 * A pool with many jobs, and a loop of searches like the dispatcher's. `hasLimits`: the carriers
 * limit the lanes, each of which has its own.
 */
async function openedPool({ hasLimits }: { readonly hasLimits: boolean } = { hasLimits: false }) {
  const storage = memory();
  await storage.open(schema);
  let [now, count] = [start, 0];
  /** What happens during a read, after this many other reads. */
  let planned: { reads: number; readonly happens: () => Promise<void> } | undefined;
  const reader: typeof storage.reader = over(storage.reader, {
    async range(range) {
      const rows = await storage.reader.range(range);
      if (planned !== undefined && planned.reads-- <= 0) {
        const { happens } = planned;
        planned = undefined;
        await happens();
      }
      return rows;
    },
  });
  const due = new DueJobs(unscopedReads(reader), "work", seededRandom(1));
  /** The free slots of the lanes. Every second lane has one more than jobs. */
  const free = new Map(lanes.map((each, n) => [each, n % 2 === 0 ? 3 : 0]));
  const freeIn = (each: Lane): number => free.get(nameOf(each)) ?? 0;
  const waiting = new Map<string, JobRow>();
  let armed: DueJob[] = [];
  let isWoken = false;
  /** Whether another engine takes the next job that is found. */
  let isOvertaken = false;

  const insert = async (row: JobRow): Promise<void> => {
    const write = { kind: "insert", collection: jobs, row: { ...row, version: 1 } } as const;
    await storage.begin().commit([write]);
    if (!row.leased) waiting.set(row.key, row);
  };
  const newJob = (name: string, due_at: number): JobRow => job(`job ${count++}`, name, due_at);
  for (const name of lanes) {
    for (let n = 0; n < 2; n++) await insert(newJob(name, start));
    const running = { ...newJob(name, start + 3_600_000), leased: true };
    for (let n = 0; n < 16; n++) await insert({ ...running, key: `${name} ${n}` });
  }
  for (let n = 0; n < 100; n++) await insert(newJob("full", start - 1_000));

  /** Something happens, and the dispatcher does what it does then. */
  const happen = async (each: Happening): Promise<void> => {
    isWoken ||= each.does !== "pass";
    switch (each.does) {
      case "pass":
        now += each.ms;
        return;
      case "add": {
        const row = newJob(each.lane, now);
        await insert(row);
        armed.push(dueJob(row));
        return;
      }
      case "free":
        free.set(each.lane, (free.get(each.lane) ?? 0) + each.slots);
        return due.noteChange();
      case "arm":
        await insert(newJob(each.lane, now + each.inMs));
        due.noteChange();
    }
  };

  /** Returns whether the job starts. Otherwise it is gone. */
  const take = async ({ kind, key, lane: own }: DueJob): Promise<boolean> => {
    // An earlier search has found it in the storage, while this process armed it.
    if (!waiting.delete(key)) return false;
    const remove = { kind: "remove", collection: jobs, key: [kind, key], version: 1 } as const;
    await storage.begin().commit([remove]);
    const isStarted = !isOvertaken;
    if (isStarted) free.set(nameOf(own), freeIn(own) - 1);
    isOvertaken = false;
    return isStarted;
  };

  /**
   * Searches until the dispatcher would wait for something to happen. Starts what it finds. Returns
   * when the dispatcher searches again if nothing happens.
   */
  const searchAll = async (): Promise<number> => {
    for (let searches = 0; searches < 100; searches++) {
      const ready = armed;
      armed = [];
      isWoken = false;
      const found = await due.find({
        now,
        free: 2,
        freeIn,
        freeUnderLimit: hasLimits ? freeIn : () => Infinity,
        nextPick: () => 0,
        waitForOthersMs: () => 0,
        spread: 1,
        armed: ready,
      });
      let started = 0;
      for (const each of found) if (await take(each)) started++;
      if (started > 0) continue;
      const isOver = due.hasReadAllLanes && !(found.length > 0 && due.hasMore);
      const next = isOver ? ((await due.nextDueAt(now)) ?? Infinity) : now + 25;
      if (isWoken) continue;
      if (isOver && next > now) return Math.min(next, now + 5_000);
      now = Math.max(next, now);
    }
    return expect.fail("the searches have no end");
  };

  return {
    due,
    happen,
    /** Another process arms a job that is due, and the storage sends no notification. */
    armUnnoticed: (name: string) => insert(newJob(name, now)),
    searchAll,
    overtake: () => void (isOvertaken = true),
    happenDuring: (reads: number, happens: () => Promise<void>) =>
      void (planned = { reads, happens }),
    /** The jobs that are due before a time and whose lanes have room. */
    startableBefore: (time: number) =>
      [...waiting.values()].filter((row) => row.due_at < time && freeIn(decodeLane(row.lane)) > 0),
  };
}

it("a job that can start waits for no later search, whatever happens between and during the searches", async () => {
  const step = fc.record({
    happens: happening,
    during: fc.option(fc.nat(60)),
    isOvertaken: fc.boolean(),
  });
  const steps = fc.array(step, { minLength: 1, maxLength: 16, size: "max" });
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (given, hasLimits) => {
      const pool = await openedPool({ hasLimits });
      const { happen, happenDuring, overtake, searchAll, startableBefore } = pool;
      await searchAll();
      for (const { happens, during, isOvertaken } of given) {
        if (isOvertaken) overtake();
        if (during === null) await happen(happens);
        else happenDuring(during, () => happen(happens));
        expect(startableBefore(await searchAll())).toEqual([]);
      }
    }),
    {
      numRuns: 30,
      // The clock is set back while a round reads the lanes.
      examples: [
        [
          [
            { happens: { does: "pass", ms: -500 }, during: 2, isOvertaken: false },
            {
              happens: { does: "arm", lane: "lane 20", inMs: 0 },
              during: null,
              isOvertaken: false,
            },
            { happens: { does: "pass", ms: 1_000 }, during: null, isOvertaken: false },
          ],
          false,
        ],
      ],
    },
  );
});

it("the lanes are read again after the clock was set back, though nothing was noticed", async () => {
  const { armUnnoticed, happen, searchAll, startableBefore } = await openedPool();
  await searchAll();
  await happen({ does: "pass", ms: -500 });
  await armUnnoticed("lane 00");
  expect(startableBefore(await searchAll())).toEqual([]);
});

it("a lane of which jobs were left counts as waiting until the next round", async () => {
  const { due, happen, searchAll } = await openedPool();
  await searchAll();
  for (const name of lanes) await happen({ does: "arm", lane: name, inMs: 0 });
  for (const name of lanes) await happen({ does: "arm", lane: name, inMs: 0 });
  await searchAll();
  // Each lane had room for one at most.
  expect(lanes.filter((name) => !due.hasMoreIn(laneOf(name)))).toEqual([]);
});
