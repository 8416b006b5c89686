import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom, virtualClock, type VirtualClock } from "../../adapters/testing/index.ts";
import { consumeJob } from "../../src/events/consumers/job-orders.ts";
import { schema } from "../../src/modules.ts";
import { silent } from "../../src/ports/logger.ts";
import { endLeases } from "../../src/queue/engine-register.ts";
import { arm, disarm } from "../../src/queue/jobs/arm.ts";
import type { JobClass } from "../../src/queue/jobs/classes.ts";
import type { Claim, JobOrder } from "../../src/queue/jobs/job.ts";
import { decodeLane, type Lane } from "../../src/queue/jobs/lane.ts";
import { finish, lease, moveToClass, renew } from "../../src/queue/jobs/lease.ts";
import { jobByName, storedName } from "../../src/queue/jobs/rows.ts";
import { Store } from "../../src/store/store.ts";
import { runsOn } from "../support/runs.ts";
import { overtaken } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";
import { laneOf } from "./job-row.ts";

const leaseMs = 60_000;

type Step =
  | { readonly kind: "arm"; readonly in: number }
  | { readonly kind: "lease"; readonly by: string }
  | { readonly kind: "end"; readonly of: string }
  | { readonly kind: "renew"; readonly nth: number }
  | {
      readonly kind: "finish";
      readonly nth: number;
      readonly again: number | null;
      readonly failure: "job" | "storage" | undefined;
    }
  | { readonly kind: "pass"; readonly ms: number };

const engine = fc.constantFrom("engine one", "engine two");

/** Mostly the last claim, sometimes an older one. */
const nth = fc.constantFrom(0, 0, 0, 1, 2);

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("arm" as const),
    in: fc.constantFrom(-1_000, 0, 500, 30_000, 90_000),
  }),
  fc.record({ kind: fc.constant("lease" as const), by: engine }),
  fc.record({ kind: fc.constant("end" as const), of: engine }),
  fc.record({ kind: fc.constant("renew" as const), nth }),
  fc.record({
    kind: fc.constant("finish" as const),
    nth,
    again: fc.option(fc.integer({ min: 0, max: 50_000 })),
    failure: fc.constantFrom("job", "storage", undefined),
  }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 1_000, 29_000, 61_000) }),
);

describe.each(storages)("jobs on $name", ({ name, open }) => {
  async function stored() {
    const clock = virtualClock();
    const port = open().connect();
    const store = new Store({ port, schema, clock, random: seededRandom(1), logger: silent });
    await store.open();
    const leased = async (order: JobOrder, fence = 1): Promise<Claim> =>
      (await store.commitUnscoped((tx) =>
        lease(tx, storedName(order), { fence, leasedBy: null }),
      )) ?? expect.fail("The job is not leased.");
    const rowOf = (order: JobOrder) => {
      const { kind, key } = storedName(order);
      return store.unscopedReads.get(jobByName, [kind, key]);
    };
    return { clock, store, port, leased, rowOf };
  }

  /** A job in the lane of a class, which is due now. */
  const sendOrder = (clock: VirtualClock, jobClass: JobClass): JobOrder<"send"> => ({
    kind: "send",
    key: { conversation_id: "conv_1" },
    account_id: "acct_1",
    mode: "live",
    lane: laneOf("sandbox", jobClass),
    due_at: clock.now(),
  });

  it("run at their armed time, with one holder at a time, and no arming is lost", async () => {
    const { clock, store, rowOf } = await stored();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 30, size: "max" }), async (list) => {
        const key = `job ${++run}`;
        const order = (due_at: number): JobOrder => consumeJob({ consumer: "c", key }, due_at);
        const claims: Claim[] = [];
        let holder: { readonly claim: Claim; readonly by: string; until: number } | undefined;
        /** Failed and interrupted runs since the last successful one. */
        let failures = 0;
        /** The earliest time it was armed for since its last run began, or null. */
        let wanted: number | null = null;
        /** When its holder or its lapsed lease makes it due again. */
        let again: number | null = null;
        for (const step of list) {
          const now = clock.now();
          const pick = (nth: number): Claim | undefined => claims.at(-1 - nth);
          if (step.kind === "pass") {
            await clock.advance(step.ms);
          } else if (step.kind === "arm") {
            await store.commitUnscoped((tx) => arm(tx, order(now + step.in)));
            wanted = Math.min(wanted ?? Infinity, now + step.in);
          } else if (step.kind === "lease") {
            const claim = await store.commitUnscoped((tx) =>
              lease(tx, storedName(order(now)), {
                fence: 1_000 + claims.length,
                leasedBy: step.by,
              }),
            );
            const due =
              holder === undefined ? Math.min(wanted ?? Infinity, again ?? Infinity) : holder.until;
            expect(
              claim !== undefined,
              `A job is leased if and only if it is due: due at ${due}, now ${now}.`,
            ).toBe(due <= now);
            if (claim === undefined) continue;
            claims.push(claim);
            // The next run also covers what was armed during a run that never finished.
            [wanted, again] = [holder === undefined ? null : wanted, null];
            holder = { claim, by: step.by, until: now + leaseMs };
          } else if (step.kind === "end") {
            const count = await store.commitUnscoped((tx) =>
              endLeases(tx, step.of, [storedName(order(now))]),
            );
            const isEnded = holder?.by === step.of && holder.until > now;
            expect(count, "Only the lease of that engine ends.").toBe(isEnded ? 1 : 0);
            if (holder === undefined || !isEnded) continue;
            const pause = failures === 0 ? 0 : Math.min(1_000 * 2 ** failures, 300_000);
            holder.until = Math.min(holder.until, now + pause);
            failures++;
          } else {
            const claim = pick(step.nth);
            if (claim === undefined) continue;
            const holds = holder?.claim === claim;
            if (step.kind === "renew") {
              const until = await store.commitUnscoped((tx) => renew(tx, claim));
              if (holder !== undefined && holds && holder.until - now < leaseMs / 2) {
                holder.until = now + leaseMs;
              }
              expect(until, "Only the holder of the lease can renew it.").toBe(
                holds ? holder?.until : undefined,
              );
            } else {
              const againAt = step.again === null ? {} : { againAt: now + step.again };
              await store.commitUnscoped((tx) =>
                finish(tx, claim, { ...againAt, failure: step.failure }),
              );
              if (holds) {
                holder = undefined;
                const isRemoved = step.again === null && wanted === null;
                if (step.failure === undefined || isRemoved) failures = 0;
                else if (step.failure === "job") failures++;
                again = step.again === null ? null : now + step.again;
              }
            }
          }
          const row = await rowOf(order(now));
          const due =
            holder === undefined ? Math.min(wanted ?? Infinity, again ?? Infinity) : holder.until;
          expect(
            row?.due_at ?? Infinity,
            "The row is due when the model expects its next run.",
          ).toBe(due);
          expect(row?.leased ?? false, "The row is leased as long as a run holds it.").toBe(
            holder !== undefined,
          );
        }
      }),
      { numRuns: runsOn(name, { memory: 300, SQLite: 60, PostgreSQL: 20 }) },
    );
  });

  it("are leased by exactly one of many concurrent engines", async () => {
    const { clock, store, port } = await stored();
    const order: JobOrder = consumeJob({ consumer: "c", key: "k" }, clock.now());
    await store.commitUnscoped((tx) => arm(tx, order));
    const other = new Store({ port, schema, clock, random: seededRandom(2), logger: silent });
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? store : other).commitUnscoped((tx) =>
          lease(tx, storedName(order), { fence: n, leasedBy: null }),
        ),
      ),
    );
    expect(tries.filter((claim) => claim !== undefined)).toHaveLength(1);
  });

  it("are there after they were armed, also if they ended between its reads and its commit", async () => {
    const { clock, store, port, leased, rowOf } = await stored();
    const order: JobOrder = consumeJob({ consumer: "c", key: "k" }, clock.now());
    await store.commitUnscoped((tx) => arm(tx, order));
    const slow = overtaken(
      port,
      () => true,
      async () => {
        const claim = await leased(order);
        await store.commitUnscoped((tx) => finish(tx, claim));
      },
    );
    const options = { port: slow, schema, clock, random: seededRandom(2), logger: silent };
    const another: JobOrder = consumeJob({ consumer: "c", key: "another" }, clock.now());
    await new Store(options).commitUnscoped(async (tx) => {
      await arm(tx, order);
      await arm(tx, another);
    });
    expect(await rowOf(order)).toMatchObject({ leased: false, due_at: clock.now() });
  });

  it("that fail use the slow lane until they succeed again", async () => {
    const { clock, store, leased } = await stored();
    const order: JobOrder = consumeJob({ consumer: "c", key: "k" }, clock.now());
    await store.commitUnscoped((tx) => arm(tx, order));
    const lanes: Lane[] = [];
    for (const [n, failure] of (["job", "storage", undefined, undefined] as const).entries()) {
      const claim = await leased(order, n + 1);
      lanes.push(claim.lane);
      expect(claim.failures).toBe(n === 1 || n === 2 ? 1 : 0);
      await store.commitUnscoped((tx) => finish(tx, claim, { againAt: clock.now(), failure }));
    }
    const usual = order.lane;
    const slow = { ...usual, slow: true };
    expect(lanes).toEqual([usual, slow, slow, usual]);
  });

  it("move to a better lane when they are armed for it, and never to a worse one", async () => {
    const { clock, store, leased, rowOf } = await stored();
    const armed = async (jobClass: JobClass): Promise<Lane> => {
      const order = sendOrder(clock, jobClass);
      await store.commitUnscoped((tx) => arm(tx, order));
      return decodeLane((await rowOf(order))?.lane ?? "");
    };
    expect(await armed("marketing_batch")).toEqual(laneOf("sandbox", "marketing_batch"));
    expect(await armed("batch")).toEqual(laneOf("sandbox", "batch"));
    expect(await armed("marketing")).toEqual(laneOf("sandbox", "batch"));

    // A running job improves too, and keeps that when it has to wait.
    const claim = await leased(sendOrder(clock, "batch"));
    expect(await armed("single")).toEqual(laneOf("sandbox", "single"));
    await store.commitUnscoped((tx) => finish(tx, claim, { againAt: clock.now(), failure: "job" }));
    expect(await armed("batch")).toEqual({ ...laneOf("sandbox", "single"), slow: true });
  });

  it("keep their class in a run in which they were armed, since that may have been for a better one", async () => {
    const { clock, store, leased, rowOf } = await stored();
    const order = sendOrder(clock, "single");
    const run = async (during: (claim: Claim) => Promise<void>): Promise<Lane> => {
      const claim = await leased(order);
      await during(claim);
      await store.commitUnscoped((tx) => finish(tx, claim, { againAt: clock.now() }));
      return decodeLane((await rowOf(order))?.lane ?? "");
    };
    const arming = (jobClass: JobClass) =>
      store.commitUnscoped((tx) => arm(tx, sendOrder(clock, jobClass)));
    const lower = (claim: Claim) =>
      store.commitUnscoped((tx) => moveToClass(tx, claim, async () => "marketing"));
    await arming("single");
    const armed = await run(async (claim) => {
      await arming("marketing");
      await lower(claim);
    });
    expect(armed).toEqual(laneOf("sandbox", "single"));
    const left = await run(lower);
    expect(left).toEqual(laneOf("sandbox", "marketing"));
  });

  it("that are disarmed are removed, and a running one can still finish", async () => {
    const { clock, store, leased, rowOf } = await stored();
    const order: JobOrder = consumeJob({ consumer: "c", key: "k" }, clock.now());
    await store.commitUnscoped((tx) => arm(tx, order));
    const claim = await leased(order);
    await store.commitUnscoped((tx) => disarm(tx, order));
    await store.commitUnscoped((tx) => finish(tx, claim, { againAt: clock.now() }));
    expect(await rowOf(order)).toBeUndefined();
  });
});
