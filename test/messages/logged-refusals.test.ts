/** What the log says of a carrier that no message can go through. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { accepted, carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const unauthorized: SendAnswer = {
  outcome: "rejected",
  error: { code: "unauthorized", message: "Wrong password." },
  permanent: false,
};

it("refused credentials are logged once a minute, until they are right", async () => {
  const { clock, started, log } = world();
  let isRefused = true;
  const line = carrier({ send: (_, attempt) => (isRefused ? unauthorized : accepted(attempt)) });
  const one = await started(memory(), { transports: [line] });
  const send = async (last: number) =>
    one.messages.send({ to: `+1500555010${last}`, body: "Hello" });
  const logged = () =>
    log
      .filter(({ message }) => message === "a carrier refused the transport's credentials")
      .map(({ level, facts }) => ({ level, ...facts }));

  for (const last of [1, 2, 3]) await send(last);
  await clock.settle();
  expect(logged()).toEqual([{ level: "warn", transport: "sandbox", calls: 1 }]);
  // Until then, each message makes three more attempts.
  await clock.advance(59_000);
  expect(logged()).toHaveLength(1);
  await clock.advance(5_000);
  await send(4);
  await clock.settle();
  expect(logged().slice(1)).toEqual([{ level: "warn", transport: "sandbox", calls: 12 }]);

  isRefused = false;
  await clock.advance(600_000);
  expect(logged()).toHaveLength(2);
});

it("a transport that an engine lacks in a mode is logged once a minute", async () => {
  const { clock, engine, started, log } = world();
  const ground = memory();
  const line = carrier({ modes: ["live"] });
  const one = engine(ground, { transports: [line], mode: "live" });
  await one.senders.create({ address: "+15005559998", channels: ["sms"], transport: line.name });
  const send = async (last: number) =>
    one.messages.send({ to: `+1500555010${last}`, body: "Hello" });
  for (const last of [1, 2]) await send(last);

  await started(ground, { transports: [carrier({ modes: ["sandbox"] })] });
  await clock.advance(5_000);
  const entry = { level: "warn", message: "a transport is not set up in a mode" };
  const facts = { transport: line.name, mode: "live" };
  expect(log).toEqual([{ ...entry, facts: { ...facts, calls: 1 } }]);
  await clock.advance(60_000);
  await send(3);
  await clock.advance(1_000);
  expect(log.slice(1)).toEqual([{ ...entry, facts: { ...facts, calls: expect.any(Number) } }]);
});

it("an unavailable carrier is logged once a minute in live mode, where a person relies on it", async () => {
  const { clock, started, log } = world();
  let isDown = true;
  const down: SendAnswer = {
    outcome: "rejected",
    error: { code: "carrier_unavailable", message: "The connection was refused." },
    permanent: false,
  };
  const modes = ["sandbox", "live"] as const;
  const line = carrier({ modes, send: (_, attempt) => (isDown ? down : accepted(attempt)) });
  const one = await started(memory(), { transports: [line] });
  const live = one.account(undefined, { mode: "live" });
  await live.senders.create({ address: "+15005559998", channels: ["sms"], transport: line.name });
  const logged = () => log.filter(({ message }) => message === "a carrier is unavailable");

  await one.messages.send({ to: "+15005550101", body: "Hello" });
  await clock.settle();
  expect(logged()).toEqual([]);
  const { id } = await live.messages.send({ to: "+15005550101", body: "Hello" });
  await clock.settle();
  const entry = { level: "warn", message: "a carrier is unavailable" };
  expect(logged()).toEqual([{ ...entry, facts: { transport: line.name, calls: 1 } }]);
  // The attempts after 1, 6 and 36 seconds are counted by the line of the one after 156 seconds.
  await clock.advance(156_000);
  expect(logged().slice(1)).toEqual([{ ...entry, facts: { transport: line.name, calls: 4 } }]);

  isDown = false;
  await clock.advance(600_000);
  expect((await live.messages.get(id)).status).toBe("sent");
  expect(logged()).toHaveLength(2);
});
