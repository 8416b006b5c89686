/** Which new messages take a slot at once, and which turns and slots they leave to a mailing. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { seededRandom } from "../../adapters/testing/index.ts";
import { schema } from "../../src/modules.ts";
import { DueJobs } from "../../src/queue/dispatcher/due-jobs.ts";
import { PoolQueue } from "../../src/queue/dispatcher/pool-queue.ts";
import { dueJob } from "../../src/queue/dispatcher/round-robin.ts";
import { Slots } from "../../src/queue/dispatcher/slots.ts";
import { classAt, type JobClass } from "../../src/queue/jobs/classes.ts";
import { classOf, type Lane } from "../../src/queue/jobs/lane.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { unscopedReads } from "../../src/store/reads/reads.ts";
import { over } from "../support/over.ts";
import { job, laneOf } from "./job-row.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");
const single = laneOf("carrier");
const mailing = laneOf("carrier", "batch");

/** The messages of one account: some run, and some wait for slots. */
async function opened(laneConcurrency: number) {
  const storage = memory();
  await storage.open(schema);
  /** A search reads nothing before this resolves. */
  let held = Promise.resolve();
  const reader = over(storage.reader, {
    range: (range) => held.then(() => storage.reader.range(range)),
  });
  const slots = new Slots({ concurrency: 1_000, laneConcurrency, consumerConcurrency: 1 });
  const queue = new PoolQueue(
    new DueJobs(unscopedReads(reader), "work", seededRandom(1)),
    "work",
    slots,
  );
  const waiting = new Map<string, JobClass>();
  const running: Lane[] = [];
  let count = 0;
  const waitingIn = (jobClass: JobClass): number =>
    [...waiting.values()].filter((each) => each === jobClass).length;
  /** Whether a mailing waits that has the next pick and a slot. */
  const mailingIsNext = (): boolean =>
    waitingIn("batch") > 0 &&
    slots.freeInLane(mailing) > 0 &&
    classAt(slots.nextPick(single), ["single", "batch"]) === "batch";

  /** A message is queued. Returns whether it takes a slot at once. */
  const arrive = async (lane: Lane<"send">): Promise<boolean> => {
    const hasSlot = queue.takeSlotFor(lane);
    if (hasSlot) running.push(lane);
    else {
      const row = job(`job ${count++}`, "carrier", now, classOf(lane));
      waiting.set(row.key, classOf(lane));
      queue.add(dueJob(row));
      const insert = { kind: "insert", collection: jobs, row: { ...row, version: 1 } } as const;
      await storage.begin().commit([insert]);
    }
    return hasSlot;
  };

  const searchOnce = async (meanwhile: () => Promise<void>): Promise<readonly Lane[]> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    const searching = queue.search({ now, waitForOthersMs: () => 0, spread: 1 });
    await meanwhile();
    resolve();
    const started: Lane[] = [];
    for (const { kind, key, lane } of await searching) {
      if (slots.freeInLane(lane) <= 0) {
        queue.due.noteMoreIn(lane);
        continue;
      }
      slots.take(lane);
      running.push(lane);
      started.push(lane);
      waiting.delete(key);
      const remove = { kind: "remove", collection: jobs, key: [kind, key], version: 1 } as const;
      await storage.begin().commit([remove]);
    }
    queue.endSearch();
    return started;
  };

  /** Starts the messages that wait and have slots. The first search reads after `meanwhile`. */
  const search = async (meanwhile = async (): Promise<void> => {}): Promise<readonly Lane[]> => {
    const first = await searchOnce(meanwhile);
    // A search that started messages is followed by another one.
    return first.length === 0 ? first : [...first, ...(await search())];
  };

  /** A message that runs has been sent. */
  const end = (at: number): void => {
    const [lane] = running.splice(at % Math.max(1, running.length), 1);
    if (lane !== undefined) slots.release(lane);
  };

  await search();
  return { slots, waitingIn, mailingIsNext, arrive, search, end };
}
type Opened = Awaited<ReturnType<typeof opened>>;

/** A single message arrives. It takes a slot unless that belongs to a message that waits. */
async function arriveSingle({ slots, waitingIn, mailingIsNext, arrive }: Opened): Promise<void> {
  const pick = slots.nextPick(single);
  const isNext = mailingIsNext();
  const waitingSingles = waitingIn("single");
  const isFree = slots.freeInLane(single) > 0;
  slots.take(single, { countsPick: false });
  const leavesSlot = !isNext || slots.freeInLane(mailing) > 0;
  slots.release(single);
  const begins = await arrive(single);
  if (waitingSingles === 0) {
    expect(begins, "It begins if it leaves a slot to the mailing that is picked next.").toBe(
      isFree && leavesSlot,
    );
  }
  if (begins) {
    const before = waitingSingles + (isNext ? 1 : 0);
    expect(slots.freeInLane(single), "Those before it have slots.").toBeGreaterThanOrEqual(before);
  }
  if (isNext) expect(mailingIsNext(), "The mailing keeps its pick and a slot.").toBe(true);
  const isPicked = begins && !isNext && waitingSingles === 0;
  expect(slots.nextPick(single), "It counts if it is picked next.").toBe(
    isPicked ? pick + 1 : pick,
  );
}

const arrival = fc.constantFrom(single, single, mailing);
const step = fc.oneof(
  fc.record({ does: fc.constant("arrive" as const), lane: arrival }),
  fc.record({ does: fc.constant("end" as const), at: fc.nat(20) }),
  fc.record({
    does: fc.constant("search" as const),
    meanwhile: fc.array(arrival, { maxLength: 3 }),
  }),
);

it("a new message takes a slot at once, but not the next pick or the slot of a mailing that waits", async () => {
  const steps = fc.array(step, { minLength: 20, maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), steps, async (laneConcurrency, given) => {
      const account = await opened(laneConcurrency);
      const { mailingIsNext, search, arrive, end } = account;
      const arriveIn = (lane: typeof single): Promise<unknown> =>
        lane === single ? arriveSingle(account) : arrive(lane);
      for (const each of given) {
        if (each.does === "arrive") await arriveIn(each.lane);
        else if (each.does === "end") end(each.at);
        else {
          let isNext = false;
          const started = await search(async () => {
            for (const lane of each.meanwhile) await arriveIn(lane);
            isNext = mailingIsNext();
          });
          if (isNext) expect(started[0], "The mailing takes its pick.").toEqual(mailing);
        }
      }
    }),
  );
});

it("a mailing takes one pick of eight, though single messages arrive during each search", async () => {
  const { search, arrive, end } = await opened(4);
  for (let n = 0; n < 4; n++) await arrive(single);
  for (let n = 0; n < 5; n++) await arrive(mailing);
  const started: Lane[] = [];
  for (let round = 0; round < 40; round++) {
    end(0);
    const found = await search(async () => {
      if (await arrive(single)) started.push(single);
    });
    started.push(...found);
  }
  const places = started.flatMap((lane, n) => (classOf(lane) === "batch" ? [n + 1] : []));
  // With the first four, these are the eighth message, the 16th and so on.
  expect(places).toEqual([4, 12, 20, 28, 36]);
});

it("a new message leaves its slot to a mailing that has the next pick, though another mailing runs", async () => {
  const { mailingIsNext, arrive, search, end } = await opened(4);
  for (const lane of [mailing, single, single, single, mailing]) await arrive(lane);
  // Single messages are picked up to the seventh time.
  for (let n = 0; n < 3; n++) {
    end(1);
    expect(await arrive(single)).toBe(true);
  }
  // With these two free slots, the second mailing has one. With one slot it would have none, because
  // the lower classes use their eighth.
  for (let n = 0; n < 2; n++) end(1);
  expect(mailingIsNext()).toBe(true);
  expect(await arrive(single)).toBe(false);
  expect((await search()).map(classOf)).toEqual(["batch", "single"]);
});

it.each([
  { free: 3, begins: false },
  { free: 4, begins: true },
])(
  "with $free free slots, a new message leaves slots to two single messages and to a mailing with the next pick",
  async ({ free, begins }) => {
    const { mailingIsNext, arrive, end } = await opened(7);
    for (let n = 0; n < 7; n++) await arrive(single);
    for (const lane of [single, single, mailing]) await arrive(lane);
    for (let n = 0; n < free; n++) end(0);
    expect(mailingIsNext()).toBe(true);
    expect(await arrive(single)).toBe(begins);
  },
);
