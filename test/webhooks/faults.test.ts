import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leaseMs } from "../../src/queue/jobs/lease.ts";
import { maxAttempts } from "../../src/webhooks/sending/schedule.ts";
import { runs } from "../support/runs.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { startProcess } from "./engine-process.ts";
import { checkInvariants } from "./invariants.ts";
import { type Answer } from "./receivers.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

type Step =
  | { readonly kind: "tell"; readonly count: number }
  | { readonly kind: "answers"; readonly answers: readonly Answer[] }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "set"; readonly ms: number }
  | { readonly kind: "restart"; readonly haste: boolean }
  | { readonly kind: "crash" }
  | { readonly kind: "lose"; readonly commits: number };

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(200, 200, 204, 302, 404, 429, 500, 503),
  headers: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    {},
    { "retry-after": "90" },
    { "retry-after": "-1" },
  ),
  after: fc.constantFrom(0, 5, 900, 14_000, Infinity),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("tell" as const),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("answers" as const),
      answers: fc.array(answer, { minLength: 1 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.constantFrom(1, 900, 6_000, 70_000, 700_000, 8_000_000, 60_000_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("set" as const),
      ms: fc.constantFrom(-600_000, -7_000, 3_000, 900_000),
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
);

const tries = { memory: 25, SQLite: 5, PostgreSQL: 1 };

describe.each(lightStorages)("webhooks on $name, with faults", ({ name, open }) => {
  it("get each event until it succeeds or five attempts fail, and all invariants hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const world = await webhookWorld(open());
        let answers: readonly Answer[] = [];
        const behavior = (_: unknown, n: number): Answer =>
          answers[n % Math.max(1, answers.length)] ?? {};
        const hooks = [
          await world.hook("a", behavior),
          await world.hook("b", behavior, { ordering: "fifo" }),
        ];
        const told: string[] = [];
        let cutOff = 0;

        let [first, second] = [await startProcess(world), await startProcess(world)];
        const runStep = async (each: Step): Promise<void> => {
          if (each.kind === "tell") told.push(...(await world.tell(each.count)));
          else if (each.kind === "answers") answers = each.answers;
          else if (each.kind === "pass") await world.pass(each.ms);
          else if (each.kind === "set") {
            if (each.ms > leaseMs / 4) await world.idle();
            world.step(each.ms);
          } else if (each.kind === "lose") first.lose(each.commits);
          else {
            if (each.kind === "crash") await first.crash();
            else await first.stop(each.haste);
            cutOff += first.cutOff();
            [first, second] = [second, await startProcess(world)];
          }
        };
        for (const each of steps) await runStep(each);
        // No more faults from here on. A clock that was set back catches up.
        answers = [];
        for (const hours of [1, 19, 1]) await world.pass(hours * 3_600_000);

        const rows = await world.deliveries();
        for (const { id } of hooks) {
          const mine = rows.filter(({ webhook_id }) => webhook_id === id);
          expect(mine.map(({ event_id }) => event_id)).toEqual(told);
        }
        for (const { status, history } of rows) {
          expect(
            status === "succeeded" || (status === "failed" && history.length === maxAttempts),
            `Only after all attempts a delivery fails: it is ${status} after ${history.length}.`,
          ).toBe(true);
        }
        const secrets = new Map(hooks.map(({ url, secret }) => [url, [secret ?? ""]]));
        await checkInvariants(world, { cutOff, secretsAt: (url) => secrets.get(url) ?? [] });
        judgeOrder(world, told);
        for (const each of [first, second]) await each.crash();
      }),
      { numRuns: runs(tries[name]), endOnFailure: true },
    );
  });

  it("show an attempt once, although the storage's answer to its commit is lost", async () => {
    const world = await webhookWorld(open());
    const one = await startProcess(world);
    await world.hook("a", (_, n) => {
      // The next commit records this attempt.
      if (n === 0) one.lose(1);
      return {};
    });
    await world.tell(1);
    await world.pass(5 * 60_000);
    expect(world.receivers.seen).toHaveLength(1);
    expect(await world.attempts()).toHaveLength(1);
    await one.crash();
  });
});

/** Nothing overtakes what was committed before it; what was cut off is made again in its place. */
function judgeOrder({ receivers }: WebhookWorld, told: readonly string[]): void {
  const places = receivers.seen
    .filter(({ url }) => url.includes("//b."))
    .map(({ id }) => told.indexOf(id));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(
    receivers.busiest.get("https://b.example/hook") ?? 0,
    "A webhook in order gets one request at a time.",
  ).toBeLessThanOrEqual(1);
  expect(
    receivers.busiest.get("https://a.example/hook") ?? 0,
    "A webhook gets at most 8 requests at a time.",
  ).toBeLessThanOrEqual(8);
}
