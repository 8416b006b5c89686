import { expect, test } from "vitest";
import { runs } from "../support/runs.ts";
import { simulate } from "./run.ts";

/** As many as the time allows on a slow machine; `npm run simulate -- --seeds N` runs more. */
const seeds = runs(110);
/** Shorter than the command line's, so that more kinds of faults meet. */
const steps = 60;

test(`what must hold holds through ${seeds} histories of crashes, lost answers and races`, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { story } = await simulate(seed, steps);
    expect(story, story).toBeUndefined();
  }
});

test("one seed replays one history, exactly", async () => {
  const digests = new Set<string>();
  for (const seed of [1, 2, 3, 5, 8, 13]) {
    const [first, second] = [await simulate(seed), await simulate(seed)];
    expect(second).toEqual(first);
    digests.add(first.digest);
  }
  expect(digests.size).toBe(6);
});

test("a broken invariant is told as a story that can be replayed", async () => {
  const { story, calls } = await simulate(4, undefined, [
    {
      name: "the carrier is never called",
      watch: () => ({
        *call({ message: { message_id } }) {
          yield { about: [message_id], says: `the carrier was called with ${message_id}` };
        },
      }),
    },
  ]);
  expect(calls).toBeGreaterThan(0);
  expect(story).toMatch(
    /^seed 4 broke "the carrier is never called"\n {2}the carrier was called with msg_/,
  );
  expect(story).toMatch(/is queued.*\n(.*\n)* +[\d.]+ s {2}the carrier \w+ msg…/);
  expect(story).toMatch(/npm run simulate -- --seed 4 --steps 150$/);
});
