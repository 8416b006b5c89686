/** The errors of a send for which the account has no sender, or the engine not the sender's transport. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const address = "+15550000001";

it.each([{ from: address, reason: "requested" }, { reason: "default" }])(
  "the error for the $reason sender names the transport that the engine lacks",
  async ({ from }) => {
    const { engine } = world();
    const storage = memory();
    const acme = carrier({ name: "acme", modes: ["live"] });
    const one = engine(storage, { transports: [acme], mode: "live" });
    await one.senders.create({ address, channels: ["sms"], transport: "acme" });
    const other = engine(storage, { transports: [carrier({ modes: ["live"] })], mode: "live" });
    const send = (media?: { url: string }[]) =>
      other.messages.send({ to: "+15005550001", body: "Hello", from, media });
    const message =
      `The sender ${address} uses the transport acme, which this engine does not have for sms in ` +
      "live mode. Pass it to the engine.";
    await expect(send()).rejects.toMatchObject({
      code: "no_sender",
      errors: [{ pointer: "/from", code: "no_sender", message }],
    });
    await expect(send([{ url: "https://example.com/a.png" }])).rejects.toMatchObject({
      code: "no_sender",
      message: expect.not.stringContaining("acme"),
    });
  },
);

it("the error of an engine with a real carrier only tells that the sandbox is the default mode", async () => {
  const { engine } = world();
  const one = engine(memory(), { transports: [carrier({ name: "acme", modes: ["live"] })] });
  await expect(one.messages.send({ to: "+15005550001", body: "Hello" })).rejects.toMatchObject({
    code: "no_sender",
    message:
      "The sender +15005559999 uses the transport sandbox, which this engine does not have for " +
      "sms in sandbox mode. Pass it to the engine, or send in live mode.",
  });
});

it("the error in a mode without senders names the mode, since the other mode may have some", async () => {
  const { engine } = world();
  const one = engine(memory());
  const message = { to: "+15005550001", body: "Hello" };
  expect(await one.messages.send(message)).toMatchObject({ from: "+15005559999" });
  const live = one.account(undefined, { mode: "live" });
  await expect(live.messages.send(message)).rejects.toMatchObject({
    code: "no_sender",
    message: "This account has no sender for sms in live mode. Create one.",
  });
  const reached = { from: "+15005559999", ...message };
  await expect(live.messages.send(reached)).rejects.toMatchObject({
    code: "no_sender",
    message:
      "+15005559999 is not a sender of this account for sms in live mode. Create it as a sender, " +
      "or leave out from.",
  });
});

it("a preview offers up to 50 usable senders, even if many before them have no transport", async () => {
  const { engine } = world();
  const storage = memory();
  const acme = engine(storage, { transports: [carrier({ name: "acme" })] });
  const one = engine(storage);
  const add = (transport: string, address: string) =>
    (transport === "acme" ? acme : one).senders.create({ address, channels: ["sms"], transport });
  const offered = async () =>
    (await one.messages.preview({ to: "+15005550001", body: "Hello" })).senders;
  for (let i = 100; i < 180; i++) await add("acme", `+15550000${i}`);
  await add("sandbox", address);
  expect(await offered()).toEqual(["+15005559999", address]);
  for (let i = 200; i < 260; i++) await add("sandbox", `+15550000${i}`);
  expect(new Set(await offered()).size).toBe(50);
});
