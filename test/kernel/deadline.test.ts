import { expect, it } from "vitest";
import { virtualClock } from "../../adapters/testing/index.ts";
import { withDeadline } from "../../src/kernel/index.ts";

it("work with a deadline does not begin after the end of what it belongs to", async () => {
  const clock = virtualClock();
  const reason = new Error("The engine stops.");
  let hasBegun = false;
  const work = async (): Promise<string> => {
    hasBegun = true;
    return "done";
  };
  const ended = withDeadline(clock, 1_000, work, () => "late", AbortSignal.abort(reason));
  await expect(ended).rejects.toBe(reason);
  expect([hasBegun, clock.nextWakeAt]).toEqual([false, undefined]);
});
