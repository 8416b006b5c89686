/** Which webhooks take slots of the slow lane: those whose receivers are slow. */
import { expect, it, onTestFinished, vi } from "vitest";
import { Slot } from "../../src/queue/dispatcher/slots.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { webhookWorld } from "./world.ts";

it.each([
  { after: 5, commitMs: 1_500, isMoved: false },
  { after: 400, commitMs: 1_500, isMoved: false },
  { after: 3_000, commitMs: 1_500, isMoved: true },
  { after: 3_000, commitMs: 0, isMoved: true },
])(
  "if commits take $commitMs ms, a receiver that responds after $after ms moves to the slow lane: $isMoved",
  async ({ after, commitMs, isMoved }) => {
    const moves = vi.spyOn(Slot.prototype, "moveToSlowLane");
    onTestFinished(() => moves.mockRestore());
    const { clock, storage, hook, tell, start, pass, receivers } = await webhookWorld();
    let delayMs = 0;
    const slow = beforeCommits(storage, async () => {
      if (delayMs > 0) await clock.sleep(delayMs);
    });
    await hook("a", () => ({ after }), { ordering: "fifo" });
    await start({}, slow);
    delayMs = commitMs;
    await tell(3);
    await pass(30_000);
    delayMs = 0;
    expect(receivers.seen).toHaveLength(3);
    expect(moves.mock.calls.length > 0).toBe(isMoved);
  },
);

it("a receiver that responds soon stays out of the slow lane while its requests overlap for long", async () => {
  const moves = vi.spyOn(Slot.prototype, "moveToSlowLane");
  onTestFinished(() => moves.mockRestore());
  const { hook, tell, start, pass, idle, receivers } = await webhookWorld();
  await hook("a", (_, n) => ({ after: n < 8 ? 5 : 400 }));
  await start();
  await tell(8);
  await pass(1_000);
  for (let i = 0; i < 20; i++) {
    await tell();
    await pass(200);
  }
  await idle();
  expect(receivers.seen).toHaveLength(28);
  expect(moves).not.toHaveBeenCalled();
});
