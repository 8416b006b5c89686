import fc from "fast-check";
import { expect, it } from "vitest";
import { delays, maxAttempts } from "../../src/webhooks/sending/schedule.ts";
import { runs } from "../support/runs.ts";
import { checkInvariants } from "./invariants.ts";
import type { Answer } from "./receivers.ts";
import { webhookWorld } from "./world.ts";

const dayMs = 86_400_000;
/** A little more than the polling interval. */
const lateMs = 6_000;

const failure: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(302, 404, 429, 500, 503),
  headers: fc.oneof(
    fc.constant({}),
    fc
      .oneof(
        fc.integer({ min: -10, max: 200_000 }).map(String),
        fc.constantFrom(
          "1.5",
          "soon",
          "Wed, 21 Oct 2015 07:28:00 GMT",
          "Fri, 02 Jan 2026 12:00:00 GMT",
          "99999999999",
        ),
      )
      .map((value) => ({ "retry-after": value })),
  ),
  after: fc.constantFrom(0, 5, 3_000, 14_999, Infinity),
});

it("the engine makes five attempts within a day, none before its delay, for all Retry-After headers", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(failure, { minLength: 5, maxLength: 5 }), async (answers) => {
      const world = await webhookWorld();
      const { clock, receivers } = world;
      const { secret } = await world.hook("a", (_, n) => answers[n] ?? { status: 500 });
      await world.start();
      const begun = clock.now();
      let paused = 0;
      await world.tell();
      await clock.advance(20_000);
      for (let made = 1; made < maxAttempts; made++) {
        expect(receivers.seen, `Attempt ${made} has been made, and no other.`).toHaveLength(made);
        const [[delivery], [webhook]] = [await world.deliveries(), await world.webhooks()];
        const planned = delivery?.next_attempt_at ?? 0;
        // A pause by Retry-After may be longer than the remaining wait.
        const due = Math.max(planned, webhook?.paused_until ?? 0);
        paused += due - planned;
        const wait = due - clock.now();
        // Not early, and then soon. The clock jumps over most of the wait.
        if (wait > 60_000) world.step(wait - 30_000);
        await clock.advanceTo(due - 1);
        expect(receivers.seen, `Attempt ${made + 1} is not made before it is due.`).toHaveLength(
          made,
        );
        await clock.advance(lateMs);
        expect(receivers.seen, `Attempt ${made + 1} is made soon after it is due.`).toHaveLength(
          made + 1,
        );
        await clock.advance(15_000);
      }
      await world.pass(2 * dayMs);
      expect(receivers.seen, `There are exactly ${maxAttempts} attempts.`).toHaveLength(
        maxAttempts,
      );
      expect(
        (receivers.seen.at(-1)?.at ?? Infinity) - begun - paused,
        "All attempts begin within a day, without the time that the receiver asked for.",
      ).toBeLessThanOrEqual(dayMs);
      for (const [i, delay] of delays.entries()) {
        const [before, next] = [receivers.seen[i], receivers.seen[i + 1]];
        expect(
          (next?.at ?? 0) - (before?.at ?? 0) - (before?.after ?? 0),
          `Attempt ${i + 2} comes at least its delay after the end of the one before.`,
        ).toBeGreaterThanOrEqual(delay);
      }
      expect(await world.deliveries()).toMatchObject([{ status: "failed" }]);
      await checkInvariants(world, { cutOff: 0, secretsAt: () => [secret ?? ""] });
    }),
    { numRuns: runs(20) },
  );
});

it("the engine makes no early or repeated attempt when the clock jumps", async () => {
  const jump = fc.record({
    after: fc.integer({ min: 0, max: 90_000 }),
    ms: fc.integer({ min: -90_000, max: 40_000_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(jump, { maxLength: 12 }), async (jumps) => {
      const world = await webhookWorld();
      const { clock, receivers } = world;
      const { secret } = await world.hook("a", () => ({ status: 500, after: 900 }));
      await Promise.all([world.start(), world.start()]);
      await world.tell(3);
      for (const { after, ms } of jumps) {
        await clock.advance(after);
        if (ms > 10_000) await world.idle();
        const before = receivers.seen.length;
        world.step(ms);
        await clock.advance(lateMs);
        // Each delivery that the jump makes due is sent once.
        expect(
          receivers.seen.length - before,
          "Each of the three deliveries that the jump makes due is sent at most once.",
        ).toBeLessThanOrEqual(3);
      }
      await checkInvariants(world, { cutOff: 0, secretsAt: () => [secret ?? ""] });
    }),
    { numRuns: runs(20) },
  );
});

it("a pause that a receiver asked for does not last for days after the clock was set back", async () => {
  const world = await webhookWorld();
  const { receivers } = world;
  const later = { status: 429, headers: { "retry-after": "600" } };
  await world.hook("a", (_, n) => (n === 0 ? later : {}));
  await world.start();
  await world.tell();
  await world.pass(1_000);
  expect(receivers.seen).toHaveLength(1);
  world.step(-3 * dayMs);
  const [fresh] = await world.tell();
  await world.pass(2 * 3_600_000);
  expect(receivers.seen.map(({ id }) => id)).toContain(fresh);
});

it("a pause that a receiver asked for lasts its whole time, whatever parallel requests ask for", async () => {
  const busy = fc.record({
    after: fc.constantFrom(1_000, 2_000, 3_000, 14_000),
    pauseSeconds: fc.constantFrom(5, 60, 600, 3_600),
  });
  const hourThenMinute = [
    { after: 1_000, pauseSeconds: 3_600 },
    { after: 2_000, pauseSeconds: 60 },
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(busy, { minLength: 2, maxLength: 3 }), async (answers) => {
      const world = await webhookWorld();
      const { clock, receivers } = world;
      await world.hook("a", (_, n) => {
        // The first request proves the webhook, so that the next ones run in parallel.
        const answer = answers[n - 1];
        if (answer === undefined) return {};
        const headers = { "retry-after": String(answer.pauseSeconds) };
        return { status: n % 2 === 0 ? 503 : 429, headers, after: answer.after };
      });
      await world.start();
      await world.tell();
      await clock.advance(500);
      await world.tell(answers.length);
      await clock.advance(500);
      const asked = `receivers answered ${JSON.stringify(answers)}`;
      expect(receivers.seen, `${asked}: the requests run in parallel`).toHaveLength(
        1 + answers.length,
      );
      const until = Math.max(
        ...answers.map(
          ({ after, pauseSeconds }, n) =>
            (receivers.seen[1 + n]?.at ?? 0) + after + 1_000 * pauseSeconds,
        ),
      );
      await clock.advance(14_000);
      await world.tell();
      await clock.advanceTo(Math.max(until - 1, clock.now()));
      const early = receivers.seen.slice(1 + answers.length).map(({ at }) => until - at);
      expect(
        early.filter((ms) => ms > 0),
        `${asked}: how long before the end of the pause further requests came, in ms`,
      ).toEqual([]);
      await clock.advance(lateMs);
      expect(receivers.seen.length, `${asked}: requests after the pause`).toBeGreaterThan(
        1 + answers.length,
      );
    }),
    { numRuns: runs(50), examples: [[hourThenMinute]] },
  );
});
