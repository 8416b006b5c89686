/** A carrier that refuses the credentials of its transport. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { accepted, carrier } from "../support/carrier.ts";
import { world } from "../support/world.ts";

const unauthorized: SendAnswer = {
  outcome: "rejected",
  error: { code: "unauthorized", message: "Wrong password." },
  permanent: false,
};

it("is logged at once and then once a minute, until the credentials are right", async () => {
  const { clock, engine, log } = world();
  let isRefused = true;
  const line = carrier({ send: (_, attempt) => (isRefused ? unauthorized : accepted(attempt)) });
  const one = engine(memory(), { transports: [line] });
  await one.start();
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
