/** Throttled senders beside others, and beside their own earlier limits. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const slow = "+15550000001";
const other = "+15550000002";

it("a sender is not held up by a conversation that waits for it no more", async () => {
  const { clock, engine } = world();
  const line = carrier({
    send: async ({ from }, attempt) => {
      if (from === other) await clock.sleep(10_000);
      return accepted(attempt);
    },
  });
  const one = engine(memory(), { transports: [line] });
  const sender = { channels: ["sms" as const], transport: "sandbox" };
  await one.senders.create({ ...sender, address: slow, messages_per_second: 0.1 });
  await one.senders.create({ ...sender, address: other });
  await one.start();
  await one.messages.send({ to: "+15005550009", body: "Goes at once", from: slow });
  const first = await one.messages.send({ to: "+15005550001", body: "Canceled", from: slow });
  for (let n = 0; n < 20; n++) {
    await one.messages.send({ to: "+15005550001", body: `Message ${n}`, from: other });
  }
  const last = await one.messages.send({ to: "+15005550008", body: "Is next", from: slow });
  await clock.settle();
  await one.messages.cancel(first.id);
  await clock.advance(20_000);
  expect((await one.messages.get(last.id)).status).toBe("sent");
});

it("a daily cap that is lowered and raised again counts all messages of the day", async () => {
  const { clock, engine } = world();
  const line = carrier();
  const one = engine(memory(), { transports: [line] });
  const sender = { address: slow, channels: ["sms" as const], transport: "sandbox" };
  const { id } = await one.senders.create({ ...sender, daily_cap: 10 });
  await one.start();
  for (let n = 0; n < 30; n++) {
    await one.messages.send({ to: `+1500444${1_000 + n}`, body: "Hi", from: slow });
  }
  await clock.advance(5_000);
  for (const daily_cap of [5, 10]) {
    await one.senders.update(id, { daily_cap });
    await clock.advance(5_000);
  }
  expect(line.calls).toHaveLength(10);
});

it("a sender that gets a limit again after it had none sends as many messages as before", async () => {
  const { clock, engine } = world();
  const line = carrier();
  const one = engine(memory(), { transports: [line] });
  const sender = { address: slow, channels: ["sms" as const], transport: "sandbox" };
  const { id } = await one.senders.create({ ...sender, daily_cap: 1_000 });
  await one.start();
  const send = async (count: number) => {
    for (let n = 0; n < count; n++) {
      await one.messages.send({ to: `+1500444${1_000 + n}`, body: "Hi", from: slow });
    }
    await clock.advance(5_000);
  };
  // One run of the job does not remove the times of so many.
  await send(120);
  await one.senders.update(id, { daily_cap: null });
  await clock.advance(5_000);
  await one.senders.update(id, { daily_cap: 1_000 });
  await send(120);
  expect(line.calls).toHaveLength(240);
});
