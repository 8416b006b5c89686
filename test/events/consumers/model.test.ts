import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { VirtualClock } from "../../../adapters/testing/index.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { Consumer } from "../../../src/events/consumers/consumers.ts";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { Group, StoragePort } from "../../../src/ports/storage.ts";
import type { Event } from "../../../src/webhooks/event-catalog.ts";
import { stopped, world } from "../../support/engines/world.ts";
import { over } from "../../support/over.ts";
import { cases, runsOn } from "../../support/runs.ts";
import { eventually, later, places } from "./storages-with-table.ts";

/** How often an event's handler fails before it succeeds; `forever` lasts until it is repaired. */
type Fate = number | "broken";

type Step =
  | { readonly kind: "receive"; readonly from: number; readonly fate: Fate }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "restart"; readonly haste: boolean }
  | { readonly kind: "crash" }
  | { readonly kind: "lose"; readonly commits: number }
  | { readonly kind: "resume" | "skip" };

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constant("broken" as const) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("receive" as const), from: fc.nat({ max: 3 }), fate }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 900, 6_000, 70_000, 8_000_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("restart" as const), haste: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "crash" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("lose" as const),
      commits: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("resume" as const, "skip" as const) }),
  },
);

/** A storage connection that a test can cut, and that can lose the answers to commits. */
function line(storage: StoragePort) {
  let isCut = false;
  let losing = 0;
  const gone = (): TidingsError => new TidingsError("storage_unavailable", "The line is cut.");
  const alive = (): void => {
    if (isCut) throw gone();
  };
  const answered = (): void => {
    alive();
    if (losing === 0) return;
    losing--;
    throw gone();
  };
  const watched = (group: Group): Group => ({
    read(lookups) {
      alive();
      return group.read(lookups);
    },
    commit: (writes) => {
      alive();
      return group.commit(writes);
    },
    abort: () => group.abort(),
  });
  const { transaction, host } = storage;
  const reader = over(storage.reader, {
    async get(lookups) {
      alive();
      return storage.reader.get(lookups);
    },
    async range(range) {
      alive();
      return storage.reader.range(range);
    },
  });
  const port = over(storage, {
    reader,
    begin: (how) => watched(storage.begin(how)),
    ...(host === undefined
      ? {}
      : { host: (handle: unknown) => watched(host.call(storage, handle)) }),
    ...(transaction === undefined
      ? {}
      : {
          async transaction<T>(work: (handle: object | undefined) => Promise<T>): Promise<T> {
            alive();
            const value = await transaction.call(storage, async (handle) => {
              const result = await work(handle);
              alive();
              return result;
            });
            answered();
            return value as T;
          },
        }),
  });
  return {
    port,
    cut() {
      isCut = true;
    },
    lose(commits: number) {
      losing = commits;
    },
  };
}

/** How a test lets time pass. */
interface Pace {
  pass(clock: VirtualClock, ms: number): Promise<void>;
  wait(clock: VirtualClock, holds: () => Promise<boolean>): Promise<void>;
}

const steady: Pace = {
  pass: (clock, ms) => clock.advance(ms),
  wait: (clock, holds) => eventually(clock, holds, 10_000),
};

/** For storages with slow polling: the clock jumps, and sleepers notice on their next poll. */
const hasty: Pace = {
  async pass(clock, ms) {
    for (let left = ms; left > 0; left -= 606_000) {
      clock.step(Math.min(600_000, Math.max(0, left - 6_000)));
      await clock.advance(Math.min(6_000, left));
    }
  },
  wait: later,
};

// The main path of consumers is tried on PostgreSQL in `npm test`, and faults of its connection.
const faulty = cases(places, ({ name }) => name !== "PostgreSQL");

describe.each(faulty)("consumers on $name, with faults", ({ name, isExact, open }) => {
  const { pass, wait } = name === "memory" ? steady : hasty;

  it("get all events of a conversation in order, exactly once if they write through their transaction", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const place = await open();
        const { clock, engine } = world();
        const fates = new Map<string, Fate>();
        const skipped = new Set<string>();
        let came = 0;
        let isMended = false;

        const handle = async (
          one: MessagingEngine,
          body: string,
          tx: object | undefined,
        ): Promise<void> => {
          const left = isMended ? 0 : (fates.get(body) ?? 0);
          if (isExact || left === 0) await place.note(tx, body);
          if (left === 0) {
            await one.messages.send({ to: "+15005550001", body: `re ${body}` }, { tx });
          }
          if (left === "broken") throw new Error("broken");
          if (left > 0) {
            fates.set(body, left - 1);
            throw new Error("not yet");
          }
        };
        const run = async () => {
          const way = line(place.connect());
          const one = engine(way.port);
          const consumer = one.consume(
            "model",
            ["message.received"],
            ({ data: { body } }, { tx }) => handle(one, body, tx),
            { from: "beginning" },
          );
          await one.start();
          return { way, one, consumer };
        };
        const firstParked = async (consumer: Consumer<Event>) => (await consumer.parked()).at(0);

        let [first, second] = [await run(), await run()];
        for (const each of steps) {
          const { one, consumer, way } = first;
          if (each.kind === "receive") {
            const body = `${each.from}:${String(came++).padStart(2, "0")}`;
            fates.set(body, each.fate);
            await one.sandbox.inbound({ from: `+1500555100${each.from}`, body });
          } else if (each.kind === "pass") {
            await pass(clock, each.ms);
          } else if (each.kind === "lose") {
            way.lose(each.commits);
          } else if (each.kind === "resume" || each.kind === "skip") {
            const parked = await firstParked(consumer);
            if (parked === undefined) continue;
            if (each.kind === "resume") await consumer.resume(parked.event_id);
            else {
              await consumer.skip(parked.event_id);
              if (parked.event?.type === "message.received") skipped.add(parked.event.data.body);
            }
          } else {
            if (each.kind === "crash") way.cut();
            await stopped(one, clock, each.kind === "restart" && !each.haste ? 30_000 : 0);
            [first, second] = [second, await run()];
          }
        }

        // An event that cannot succeed is parked and blocks only its conversation.
        const bodies = [...fates.keys()];
        const free = (body: string): boolean =>
          !bodies.some(
            (other) =>
              other.slice(0, 1) === body.slice(0, 1) &&
              other <= body &&
              fates.get(other) === "broken",
          );
        const had = async (wanted: readonly string[]): Promise<boolean> => {
          const notes = new Set(await place.notes());
          return wanted.every((body) => notes.has(body) || skipped.has(body));
        };
        await wait(clock, () => had(bodies.filter(free)));

        // Once repaired, all events are handled.
        isMended = true;
        await wait(clock, async () => {
          for (const { event_id } of await first.consumer.parked()) {
            await first.consumer.resume(event_id);
          }
          return had(bodies);
        });
        await clock.advance(120_000);

        const notes = await place.notes();
        const order = (texts: readonly string[], from: number) =>
          texts.filter((each) => each.startsWith(`${from}:`));
        for (const from of [0, 1, 2, 3]) {
          const wanted = order(bodies, from).filter((body) => !skipped.has(body));
          const came = order(notes, from);
          expect(
            isExact ? came : came.filter((each, i) => came.indexOf(each) === i),
            `The consumer handles the events of ${from} in order, except those that it skipped.`,
          ).toEqual(wanted);
        }
        if (isExact) {
          const replies = (await first.one.messages.list({ limit: 100 })).data.flatMap(
            ({ body }) => (body?.startsWith("re ") === true ? [body.slice(3)] : []),
          );
          expect(replies.toSorted(), "Each handled event has exactly one reply.").toEqual(
            bodies.filter((body) => !skipped.has(body)).toSorted(),
          );
        }
        for (const { one } of [first, second]) await stopped(one, clock);
        await place.end();
      }),
      { numRuns: runsOn(name, { memory: 40, SQLite: 20, PostgreSQL: 10 }) },
    );
  });
});
