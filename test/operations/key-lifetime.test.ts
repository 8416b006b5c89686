import { MessagingEngine, type Message } from "tidings";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { simulated } from "tidings/testing";
import { expect, test } from "vitest";
import { idempotency, idempotencyByExpiry } from "../../src/operations/execution/rows.ts";
import { carrier, lost, refused } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";

const dayMs = 86_400_000;
const invalidSender = { code: "invalid_sender", message: "No." } as const;

/** The response to a repeated call with one key, after a delay. */
async function againAfter(
  ms: number,
  send_at?: string,
): Promise<{ first: string; again: string; messages: number }> {
  const { clock, random } = simulated({ start: "2026-01-01T00:00:00Z" });
  const storage = memory();
  await using engine = new MessagingEngine({ storage, transports: [sandbox()], clock, random });
  await engine.start();
  // So that the reaper does not run at the key's expiry.
  await clock.advance(60_000);
  const input = {
    to: "+15005550001",
    body: "Hello",
    ...(send_at === undefined ? {} : { send_at }),
  };
  const first = await engine.messages.send(input, { idempotencyKey: "key" });
  await fastForward(clock, storage, ms);
  const again = await engine.messages.send(input, { idempotencyKey: "key" });
  return { first: first.id, again: again.id, messages: (await engine.messages.list()).data.length };
}

test("a key replays its response for 24 hours", async () => {
  const { first, again } = await againAfter(dayMs - 1);
  expect(again).toBe(first);
});

test("a key can be reused after 24 hours", async () => {
  const { first, again } = await againAfter(dayMs);
  expect(again).not.toBe(first);
});

const removals: Readonly<
  Record<string, (engine: MessagingEngine, first: Message) => Promise<unknown>>
> = {
  "redaction of the first message": ({ messages }, { id }) => messages.redact(id),
  "erasure of its contact": ({ contacts }, { contact_id }) => contacts.erase(contact_id),
};

test.each(Object.entries(removals))(
  "a key that was reused replays its new response after the %s",
  async (_, remove) => {
    const { clock, started } = world();
    const storage = memory();
    const one = await started(storage, { transports: [carrier()] });
    const send = (to: string) =>
      one.messages.send({ to, body: "Hello" }, { idempotencyKey: "key" });
    const first = await send("+15005550001");
    await fastForward(clock, storage, dayMs);
    const second = await send("+15005550002");
    await remove(one, first);
    expect(await send("+15005550002")).toEqual(second);
  },
);

test.each([
  { when: "within 24 hours", ms: dayMs - 1, batches: 1 },
  { when: "after 24 hours", ms: dayMs, batches: 2 },
])("a key of a batch that is used again $when makes $batches in all", async ({ ms, batches }) => {
  const { clock, started } = world();
  const storage = memory();
  const one = await started(storage, { transports: [carrier()] });
  // So that the reaper does not run at the key's expiry.
  await clock.advance(60_000);
  const messages = [{ to: "+15005550001", body: "Hello" }];
  const batch = () => one.messages.batch({ messages }, { idempotencyKey: "key" });
  await batch();
  await fastForward(clock, storage, ms);
  await batch();
  expect((await one.messages.list()).data).toHaveLength(batches);
});

// The reaper, which runs every ten minutes, extends the key. Until then, expiry must not free it.
test.each(cases([0, 1, 599_999, 600_000, dayMs], (late) => late === 1 || late === 600_000))(
  "a key still replays %d ms past its lifetime while its message waits",
  async (late) => {
    const { first, again, messages } = await againAfter(dayMs + late, "2026-01-05T00:00:00Z");
    expect(again).toBe(first);
    expect(messages).toBe(1);
  },
);

test("a key replays past its lifetime while an earlier attempt is looked up", async () => {
  const { clock, started } = world();
  const one = await started(memory(), {
    transports: [
      carrier({ send: () => lost, lookup: () => ({ outcome: "not_sent" }) }),
      carrier({ name: "second", send: () => ({ ...refused, error: invalidSender }) }),
    ],
    routes: [{ transports: ["sandbox", "second"], fallBackAfter: ["ambiguous"] }],
    idempotencyHours: 1,
  });
  // So that the reaper does not run at the key's expiry.
  await clock.advance(60_000);
  const send_at = new Date(clock.now() + 3_600_000).toISOString();
  const send = () =>
    one.messages.send({ to: "+15005550001", body: "Hi", send_at }, { idempotencyKey: "key" });
  const { id } = await send();
  await clock.advance(3_601_000);
  expect(await one.messages.get(id)).toMatchObject({ status: "ambiguous" });
  expect((await send()).id).toBe(id);
});

test("a key of an error can be reused after 24 hours and is soon removed", async () => {
  const { clock, random } = simulated({ start: "2026-01-01T00:00:00Z" });
  const storage = memory();
  await using engine = new MessagingEngine({ storage, transports: [sandbox()], clock, random });
  await engine.start();
  await clock.advance(60_000);
  const from = "+15551230000";
  const send = (idempotencyKey: string) =>
    engine.messages.send({ to: "+15005550001", from, body: "Hello" }, { idempotencyKey });
  for (const key of ["again", "left"]) {
    await expect(send(key)).rejects.toMatchObject({ code: "no_sender" });
  }
  await engine.senders.create({ address: from, channels: ["sms"], transport: "sandbox" });
  await fastForward(clock, storage, dayMs - 1);
  await expect(send("again")).rejects.toMatchObject({ code: "no_sender" });
  await clock.advance(1);
  expect(await send("again")).toMatchObject({ from });
  await clock.advance(600_000);
  const kept = await rowsOf(storage, idempotency);
  expect(kept.map((row) => row["key"])).toEqual(["again"]);
});

test.each([
  { meanwhile: "used anew", left: 2, act: (send: () => Promise<unknown>) => send() },
  {
    meanwhile: "gone with all else",
    left: 0,
    act: (_: unknown, reset: () => Promise<unknown>) => reset(),
  },
])(
  "an expired key that is $meanwhile before its removal is handled correctly",
  async ({ left, act }) => {
    const { clock, engine, log } = world();
    const storage = memory();
    let found = 0;
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        if (range.index === idempotencyByExpiry && rows.length > 0 && found++ === 0) {
          await act(send, reset);
        }
        return rows;
      },
    });
    const one = engine(over(storage, { reader }), { idempotencyHours: 1 });
    const reset = () => one.sandbox.reset();
    const send = async () =>
      (await one.messages.send({ to: "+15005550001", body: "Hello" }, { idempotencyKey: "key" }))
        .id;
    const first = await send();
    await one.start();
    await fastForward(clock, storage, 2 * 3_600_000);
    expect(found).toBe(1);
    const { data } = await one.messages.list();
    const ids = data.map(({ id }) => id);
    expect(ids).toHaveLength(left);
    if (left > 0) expect([await send(), first]).toEqual(ids);
    expect(log.filter(({ level }) => level !== "debug")).toEqual([]);
  },
);
