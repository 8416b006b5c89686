/** Messages expire in time, whatever else their conversation waits for. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { busy, carrier, type Script } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";

const hourMs = 3_600_000;
const to = "+15005550001";
const sender = "+15550000001";

interface Wait {
  readonly waitsFor: string;
  readonly script: Script;
  /** Returns the sender of the messages. */
  readonly prepare: (engine: MessagingEngine) => Promise<{ readonly from?: string }>;
}

const waits: readonly Wait[] = [
  {
    waitsFor: "the carrier's Retry-After",
    script: { send: () => busy(3 * hourMs) },
    prepare: () => Promise.resolve({}),
  },
  {
    waitsFor: "its sender's daily cap",
    script: {},
    prepare: async ({ senders, messages }) => {
      const input = { address: sender, channels: ["sms" as const], transport: "sandbox" };
      await senders.create({ ...input, daily_cap: 1 });
      await messages.send({ to: "+15005550009", body: "Uses the cap", from: sender });
      return { from: sender };
    },
  },
];

it.each(waits)("behind a message that waits for $waitsFor", async ({ script, prepare }) => {
  const { clock, started } = world();
  const one = await started(memory(), { transports: [carrier(script)] });
  const from = await prepare(one);
  await one.messages.send({ to, body: "News", ...from });
  const { id } = await one.messages.send({ to, body: "Code 1234", ttl_seconds: 60, ...from });
  await clock.advance(59_000);
  expect((await one.messages.get(id)).status).toBe("queued");
  await clock.advance(2_000);
  expect((await one.messages.get(id)).status).toBe("expired");
});

it.each(waits)(
  "also a hundred of them behind one that waits for $waitsFor",
  async ({ script, prepare }) => {
    const { clock, started } = world();
    const one = await started(memory(), { transports: [carrier(script)] });
    const from = await prepare(one);
    await one.messages.send({ to, body: "News", ...from });
    const ids: string[] = [];
    for (let n = 1; n <= 120; n++) {
      const alarm = { to, body: `Alarm ${n}`, ttl_seconds: 60, ...from };
      ids.push((await one.messages.send(alarm)).id);
    }
    await clock.advance(61_000);
    const all = await Promise.all(ids.map((id) => one.messages.get(id)));
    expect(all.filter(({ status }) => status !== "expired")).toEqual([]);
  },
);

longTest("after deferrals that end at the last expiry, unless the message is edited", async () => {
  const dayMs = 24 * hourMs;
  let isResting = true;
  const rest = {
    name: "rest",
    evaluate: ({ now }: { readonly now: number }) =>
      isResting
        ? { verdict: "defer" as const, until: now + 30 * dayMs, reason: "rest" }
        : { verdict: "allow" as const },
  };
  const { clock, started } = world();
  const storage = memory();
  const one = await started(storage, { transports: [carrier()], policies: [rest] });
  const left = await one.messages.send({ to, body: "Left alone" });
  const edited = await one.messages.send({ to: "+15005550002", body: "Edited" });
  await fastForward(clock, storage, 61 * dayMs);
  const { status, send_at, expires_at } = await one.messages.get(left.id);
  expect({ status, send_at }).toEqual({ status: "scheduled", send_at: expires_at });
  isResting = false;
  const soon = new Date(clock.now() + hourMs).toISOString();
  await one.messages.edit(edited.id, { send_at: soon });
  await clock.advance(hourMs + 1_000);
  expect((await one.messages.get(edited.id)).status).toBe("sent");
  await fastForward(clock, storage, 9 * dayMs);
  expect((await one.messages.get(left.id)).status).toBe("expired");
});
