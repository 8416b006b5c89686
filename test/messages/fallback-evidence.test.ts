/** What carriers report about a message that falls back from one to the other. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { EngineOptions } from "../../src/host/options.ts";
import type { Route } from "../../src/ports/route.ts";
import type { Receipt, SendAnswer } from "../../src/ports/transport.ts";
import { carrier, held, lost, providerId, type Script } from "../support/carrier.ts";
import { world } from "../support/world.ts";

const hello = { to: "+15005550001", body: "Hello" };
const hour = 3_600_000;
const unavailable = { code: "carrier_unavailable", message: "" } as const;

async function overTwo(
  fallBackAfter: NonNullable<Route["fallBackAfter"]>,
  first: Script,
  second: Script = {},
  options: Partial<EngineOptions<undefined>> = {},
) {
  const { clock, engine } = world();
  const lines = [carrier(first), carrier({ name: "second", ...second })] as const;
  const one = engine(memory(), {
    transports: [...lines],
    routes: [{ transports: ["sandbox", "second"], fallBackAfter }],
    ...options,
  });
  await one.start();
  return {
    clock,
    engine: one,
    lines,
    /** Delivers a receipt for the carrier's first attempt. */
    tell: async (
      line: (typeof lines)[number],
      status: Receipt["status"],
      error?: Receipt["error"],
    ) => {
      const { attempt } = line.calls[0] ?? expect.fail("the carrier was not called");
      await line
        .sink()
        .receipt(
          { attempt_id: attempt.attempt_id, provider_message_id: providerId(attempt) },
          { status, at: clock.now(), ...(error && { error }) },
        );
    },
  };
}

it.each(["before the answer", "after the answer", "in a look-up"])(
  "a fallback after `undelivered` goes ahead although a receipt `sent` follows: %s",
  async (when) => {
    const answer = held<SendAnswer>();
    const { clock, engine, lines } = await overTwo(["undelivered"], {
      send: () => answer.promise,
      lookup: () => ({ outcome: "sent", provider_message_id: "p-1", receipts: receipts() }),
    });
    const receipts = (): Receipt[] => [
      { status: "undelivered", at: clock.now(), error: unavailable },
      { status: "sent", at: clock.now() },
    ];
    const [first, second] = lines;
    const push = async () => {
      for (const receipt of receipts()) {
        await first.sink().receipt({ provider_message_id: "p-1" }, receipt);
      }
    };
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    if (when === "before the answer") await push();
    const known = { outcome: "accepted", provider_message_id: "p-1" } as const;
    answer.answer(when === "in a look-up" ? lost : known);
    await clock.settle();
    if (when === "after the answer") await push();
    await clock.advance(20_000);
    expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  },
);

it("a message that quiet hours defer before its fallback is still sent if the first carrier reports `undelivered`", async () => {
  const answer = held<SendAnswer>();
  const { clock, engine, lines, tell } = await overTwo(
    ["ambiguous"],
    { send: () => answer.promise },
    {},
    { quietHours: { from: "21:00", to: "09:00" } },
  );
  await clock.advance(21 * hour - 2_000);
  const { id } = await engine.messages.send({ ...hello, category: "marketing" });
  await clock.advance(5_000);
  answer.answer(lost);
  await clock.settle();
  expect(await engine.messages.get(id)).toMatchObject({ status: "scheduled", transport: "second" });
  await tell(lines[0], "undelivered");
  await clock.advance(12 * hour);
  expect(await engine.messages.get(id)).toMatchObject({ status: "sent", transport: "second" });
});
