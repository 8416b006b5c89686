/** A throttled sender that is removed and added again with another transport. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";

const address = "+15550000001";
const sender = { address, channels: ["sms" as const], messages_per_second: 1 };
const send = { from: address, body: "Hello" };

it("a sender that moved to another transport is throttled there, also without the old one", async () => {
  const { clock, started } = world();
  const storage = memory();
  const [acme, zenith] = [carrier({ name: "acme" }), carrier({ name: "zenith" })];
  const one = await started(storage, { transports: [acme, zenith] });
  const { id } = await one.senders.create({ ...sender, transport: "acme" });
  await one.messages.send({ ...send, to: "+15005550101" });
  await clock.advance(5_000);
  await one.senders.remove(id);
  await one.senders.create({ ...sender, transport: "zenith" });
  await stopped(one, clock);
  const other = await started(storage, { transports: [zenith] });
  for (const n of [2, 3, 4]) await other.messages.send({ ...send, to: `+1500555010${n}` });
  await clock.advance(5_000);
  expect(zenith.calls.map(({ message }) => message.to)).toEqual(
    [2, 3, 4].map((n) => `+1500555010${n}`),
  );
});

it("messages that wait for a sender are handed over at its rate after it moved to another transport", async () => {
  const { clock, started } = world();
  const [acme, zenith] = [carrier({ name: "acme" }), carrier({ name: "zenith" })];
  const one = await started(memory(), { transports: [acme, zenith] });
  const { id } = await one.senders.create({ ...sender, transport: "acme" });
  for (const n of [1, 2, 3]) await one.messages.send({ ...send, to: `+1500555010${n}` });
  await clock.settle();
  await one.senders.remove(id);
  await one.senders.create({ ...sender, transport: "zenith" });
  for (const n of [4, 5]) await one.messages.send({ ...send, to: `+1500555010${n}` });
  await clock.advance(20_000);
  expect([acme.calls.length, zenith.calls.length]).toEqual([3, 2]);
  const times = [...acme.calls, ...zenith.calls].map(({ at }) => at);
  for (const [i, at] of times.entries()) {
    if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
  }
});

it("a sender that moved to another transport keeps the contacts that know it", async () => {
  const { engine } = world();
  const transports = [carrier(), carrier({ name: "zenith" })];
  const one = engine(memory(), { transports });
  const { id } = await one.senders.create({ ...sender, transport: "sandbox" });
  const [ann, bob, cem] = ["+15005550101", "+15005550102", "+15005550103"];
  const content = { from: ann, to: address, body: "Hello" };
  const { conversation_id } = await one.sandbox.inbound(content);
  await one.messages.send({ ...send, to: bob });
  await one.senders.remove(id);
  await one.senders.create({ ...sender, transport: "zenith" });
  const reply = await one.conversations.reply(conversation_id, { body: "Hi" });
  const sent = await one.messages.send({ to: bob, body: "Hello again" });
  const other = await one.messages.send({ to: cem, body: "Hello" });
  expect([reply.from, sent.from, other.from]).toEqual([address, address, "+15005559999"]);
});

it("a scheduled message goes over the transport that its sender has when it is due", async () => {
  const { clock, started } = world();
  const storage = memory();
  const [acme, zenith, direct] = ["acme", "zenith", "direct"].map((name) => carrier({ name }));
  if (acme === undefined || zenith === undefined || direct === undefined) throw new Error("none");
  const one = await started(storage, { transports: [acme, zenith] });
  const { id } = await one.senders.create({ ...sender, transport: "acme" });
  const after = (hours: number) => new Date(clock.now() + hours * 3_600_000).toISOString();
  await one.messages.send({ ...send, to: "+15005550101", send_at: after(1) });
  await one.messages.send({ ...send, to: "+15005550102", send_at: after(3) });
  await one.senders.remove(id);
  await one.senders.create({ ...sender, transport: "zenith" });
  await stopped(one, clock);
  const other = await started(storage, { transports: [zenith] });
  await clock.advance(2 * 3_600_000);
  expect(zenith.calls.map(({ message }) => message.to)).toEqual(["+15005550101"]);
  await stopped(other, clock);
  const routes = [{ transports: ["direct"] }];
  await started(storage, { transports: [zenith, direct], routes });
  await clock.advance(2 * 3_600_000);
  expect(direct.calls.map(({ message }) => message.to)).toEqual(["+15005550102"]);
});

it("a scheduled message leaves the old transport of its sender that only other messages' routes have", async () => {
  const { clock, started } = world();
  const [acme, zenith] = [carrier({ name: "acme" }), carrier({ name: "zenith" })];
  const routes = [{ to: ["+49"], transports: ["acme"] }];
  const one = await started(memory(), { transports: [acme, zenith], routes });
  const { id } = await one.senders.create({ ...sender, transport: "acme" });
  const send_at = new Date(clock.now() + 3_600_000).toISOString();
  for (const to of ["+15005550101", "+4915112345678"]) {
    await one.messages.send({ ...send, to, send_at });
  }
  await one.senders.remove(id);
  await one.senders.create({ ...sender, transport: "zenith" });
  await clock.advance(2 * 3_600_000);
  expect(zenith.calls.map(({ message }) => message.to)).toEqual(["+15005550101"]);
  expect(acme.calls.map(({ message }) => message.to)).toEqual(["+4915112345678"]);
});

longTest(
  "a sender that moved hands over a backlog of more than a thousand conversations",
  async () => {
    const { clock, started } = world();
    const acme = carrier({ name: "acme" });
    const one = await started(memory(), { transports: [acme, carrier({ name: "zenith" })] });
    const { id } = await one.senders.create({ ...sender, transport: "acme" });
    const count = 1_100;
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        one.messages.send({ ...send, to: `+1500556${1000 + i}` }),
      ),
    );
    await clock.settle();
    await one.senders.remove(id);
    await one.senders.create({ address, channels: ["sms"], transport: "zenith" });
    await clock.advance(120_000);
    expect(acme.calls).toHaveLength(count);
  },
);
