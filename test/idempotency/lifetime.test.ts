import { expect, test } from "vitest";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { simulated } from "tidings/testing";

const dayMs = 86_400_000;

/** What a call under one key answers, asked again that long after the first time. */
async function againAfter(ms: number, send_at?: string): Promise<{ first: string; again: string; messages: number }> {
  const { clock, random } = simulated({ start: "2026-01-01T00:00:00Z" });
  await using engine = new MessagingEngine({ storage: memory(), transports: [sandbox()], clock, random });
  await engine.start();
  // So that the reaper's turns don't fall on the key's last moment.
  await clock.advance(60_000);
  const input = { to: "+15005550001", body: "Hello", ...(send_at === undefined ? {} : { send_at }) };
  const first = await engine.messages.send(input, { idempotencyKey: "key" });
  await clock.advance(ms);
  const again = await engine.messages.send(input, { idempotencyKey: "key" });
  return { first: first.id, again: again.id, messages: (await engine.messages.list()).data.length };
}

test("a key answers for 24 hours", async () => {
  const { first, again } = await againAfter(dayMs - 1);
  expect(again).toBe(first);
});

test("a key is free after 24 hours", async () => {
  const { first, again } = await againAfter(dayMs);
  expect(again).not.toBe(first);
});

// An expired key was taken for a free one until the reaper, every ten minutes, came to extend it.
test.each([0, 1, 599_999, 600_000, dayMs])(
  "a key still answers %d ms past its time while its message waits",
  async (late) => {
    const { first, again, messages } = await againAfter(dayMs + late, "2026-01-05T00:00:00Z");
    expect(again).toBe(first);
    expect(messages).toBe(1);
  },
);
