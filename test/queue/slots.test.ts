/** Which jobs have room, whatever else runs. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AccountId } from "../../src/kernel/ids.ts";
import { Slot, Slots } from "../../src/queue/dispatcher/slots.ts";
import { isLower, jobClasses } from "../../src/queue/jobs/classes.ts";
import { classOf, groupOf, readyLane, type Lane } from "../../src/queue/jobs/lane.ts";
import { runs } from "../support/runs.ts";

const accounts = ["acct_1", "acct_2"] as AccountId[];
const lanes: readonly Lane[] = [
  ...accounts.flatMap((account_id) =>
    jobClasses.flatMap((jobClass) =>
      [true, false].map((slow) => ({
        kind: "send" as const,
        slow,
        remote: "carrier",
        account_id,
        mode: "live" as const,
        waiting_for: null,
        class: jobClass,
      })),
    ),
  ),
  ...accounts.flatMap((account_id) =>
    (["single", "batch"] as const).map((jobClass) => ({
      kind: "turn" as const,
      slow: false,
      account_id,
      mode: "live" as const,
      class: jobClass,
    })),
  ),
  ...["billing", "search"].map((consumer) => ({ kind: "consume" as const, slow: false, consumer })),
  { kind: "reap", slow: false },
];

/** How many jobs of a lane's group may run. */
function maxInGroup({ kind, slow }: Lane, laneConcurrency: number): number {
  if (kind === "turn") return 64;
  return slow ? Math.max(1, Math.floor(laneConcurrency / 4)) : laneConcurrency;
}

const limits = fc.record({
  concurrency: fc.integer({ min: 1, max: 40 }),
  laneConcurrency: fc.integer({ min: 1, max: 20 }),
  consumerConcurrency: fc.integer({ min: 1, max: 4 }),
});

/** Starts and ends of jobs. A job starts only if its lane has room, and ends only if it runs. */
const history = fc.array(fc.record({ lane: fc.constantFrom(...lanes), starts: fc.boolean() }), {
  maxLength: 200,
  size: "max",
});

/** Plays a history, and calls `check` after each start and end. */
function play(
  slots: Slots,
  steps: readonly { readonly lane: Lane; readonly starts: boolean }[],
  step: {
    readonly start?: (lane: Lane, running: readonly Lane[]) => void;
    readonly end?: (lane: Lane) => void;
  },
): void {
  const running: Lane[] = [];
  for (const { lane, starts } of steps) {
    if (starts && slots.freeInLane(lane) > 0) {
      slots.take(lane);
      running.push(lane);
      step.start?.(lane, running);
    } else if (!starts && running.includes(lane)) {
      running.splice(running.indexOf(lane), 1);
      if (step.end === undefined) slots.release(lane);
      else step.end(lane);
    }
  }
}

describe("the slots of jobs", () => {
  it("tell of an end that makes room for any lane that had none", () => {
    fc.assert(
      fc.property(limits, history, (options, steps) => {
        const slots = new Slots(options);
        play(slots, steps, {
          end(lane) {
            const full = lanes.filter((each) => slots.freeInLane(each) <= 0);
            const told = slots.release(lane);
            const open = full.filter((each) => slots.freeInLane(each) > 0);
            expect(told || open.length === 0, `${JSON.stringify(open)} got room.`).toBe(true);
          },
        });
      }),
      { numRuns: runs(100) },
    );
  });

  it("are left free for the best class by the lower ones, which have an eighth of their own", () => {
    fc.assert(
      fc.property(limits, history, (options, steps) => {
        // The lane's limit is what counts here.
        const slots = new Slots({ ...options, concurrency: 1_000 });
        const classed = steps.filter(({ lane }) => "class" in lane && !lane.slow);
        play(slots, classed, {
          start(lane, running) {
            const all = maxInGroup(lane, options.laneConcurrency);
            const eighth = Math.ceil(all / 8);
            const inGroup = running.filter((each) => groupOf(each) === groupOf(lane));
            const lower = inGroup.filter((each) => isLower(classOf(each))).length;
            const free = all - inGroup.length;
            if (isLower(classOf(lane))) {
              expect(free >= eighth || lower <= eighth, `${lower} run, ${free} are free.`).toBe(
                true,
              );
            }
            const batch = lanes.find((each) => isOf(each, lane)) ?? expect.fail("no lane");
            if (free > 0 && lower < eighth) {
              const room = slots.freeInLane(batch);
              expect(room, "The lower classes may use an eighth.").toBeGreaterThan(0);
            }
          },
        });
      }),
      { numRuns: runs(100) },
    );
  });

  it("of turns are left free by the triggered runs of many accounts, for an answer in any", () => {
    const slots = new Slots({ concurrency: 1, laneConcurrency: 1, consumerConcurrency: 1 });
    const turn = (account: number, jobClass: "single" | "batch"): Lane => ({
      kind: "turn",
      slow: false,
      account_id: `acct_${account}` as AccountId,
      mode: "live",
      class: jobClass,
    });
    const fill = (jobClass: "single" | "batch"): number => {
      let begun = 0;
      for (let account = 0; account < 10; account++) {
        for (; slots.freeInLane(turn(account, jobClass)) > 0; begun++) {
          slots.take(turn(account, jobClass));
        }
      }
      return begun;
    };
    expect(fill("batch")).toBe(224);
    expect(fill("single")).toBe(32);
    for (let ended = 0; ended < 32; ended++) slots.release(turn(0, "batch"));
    expect(fill("batch"), "These slots are for answers.").toBe(0);
    expect(slots.freeInLane(turn(9, "single"))).toBe(32);
  });
});

const ends = fc.array(
  fc.record({
    does: fc.constantFrom("start", "start", "freeEarly", "moveToSlowLane", "end"),
    lane: fc.constantFrom(...lanes),
    at: fc.nat(20),
  }),
  { maxLength: 200, size: "max" },
);

describe("the slot of a job", () => {
  it("is free once: at its end, or before it, for as many jobs of a group as may have slots", () => {
    fc.assert(
      fc.property(limits, ends, (options, steps) => {
        const slots = new Slots(options);
        // Counts the jobs that should have slots.
        const model = new Slots({ ...options });
        let jobs: { slot: Slot; lane: Lane | undefined; freedIn: Lane | undefined }[] = [];
        const state = { isTold: false };
        const tell = (): void => {
          state.isTold = true;
        };
        const roomIn = (counted: Slots) => lanes.map((lane) => counted.freeInLane(lane));
        for (const { does, lane, at } of steps) {
          const full = lanes.filter((each) => slots.freeInLane(each) <= 0);
          state.isTold = false;
          const job = jobs[at % Math.max(1, jobs.length)];
          if (does === "start") {
            if (slots.freeInLane(lane) <= 0) continue;
            for (const each of [slots, model]) each.take(lane);
            jobs.push({ slot: new Slot(slots, lane, tell), lane, freedIn: undefined });
          } else if (job === undefined) continue;
          else if (does === "freeEarly") {
            job.slot.freeEarly();
            const { lane: held } = job;
            if (held === undefined) continue;
            const others = jobs.filter(
              ({ freedIn }) => freedIn && groupOf(freedIn) === groupOf(held),
            );
            if (others.length < maxInGroup(held, options.laneConcurrency)) {
              model.release(held);
              Object.assign(job, { lane: undefined, freedIn: held });
            }
          } else if (does === "moveToSlowLane") {
            job.slot.moveToSlowLane();
            if (job.lane?.slow === false) {
              model.release(job.lane);
              job.lane = readyLane(job.lane, { slow: true });
              model.take(job.lane);
            }
          } else {
            job.slot.end();
            if (job.lane !== undefined) model.release(job.lane);
            jobs = jobs.filter((each) => each !== job);
          }
          expect(roomIn(slots), `A slot is counted once after ${does}.`).toEqual(roomIn(model));
          const open = full.filter((each) => slots.freeInLane(each) > 0);
          expect(state.isTold || open.length === 0, `${JSON.stringify(open)} got room.`).toBe(true);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

/** Whether a lane has the batches of a group. */
function isOf(lane: Lane, other: Lane): boolean {
  return groupOf(lane) === groupOf(other) && classOf(lane) === "batch";
}
