/** Messages over two transports that the first refuses for now. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Route } from "../../src/ports/route.ts";
import type { SendAnswer, SendContext } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, lost, refusalForNow } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { withGroups } from "../support/storage/groups.ts";

/** Sends a message, and returns its status and the times of the calls after `ms`. */
async function sent(
  answer: (attempt: SendContext) => SendAnswer,
  fallBackAfter: NonNullable<Route["fallBackAfter"]>,
  ms: number,
) {
  const { clock, started } = world();
  const first = carrier({ send: (_, attempt) => answer(attempt) });
  const second = carrier({ name: "second" });
  const one = await started(memory(), {
    transports: [first, second],
    routes: [{ transports: ["sandbox", "second"], fallBackAfter }],
  });
  const begun = clock.now();
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.advance(ms);
  const [times, others] = [first, second].map(({ calls }) => calls.map(({ at }) => at - begun));
  return { status: (await one.messages.get(id)).status, times, others };
}

describe.each(["unreachable", "filtered"] as const)("a message that is %s for now", (code) => {
  it("is retried over the same transport only", async () => {
    expect(
      await sent(
        (attempt) => (attempt.number < 3 ? refusalForNow(code) : accepted(attempt)),
        [],
        60_000,
      ),
    ).toEqual({ status: "sent", times: [0, 1_000, 6_000], others: [] });
  });

  it("stays with that transport, whatever its later attempts end with", async () => {
    const later = [busy(), lost];
    expect(
      await sent(({ number }) => later[number - 2] ?? refusalForNow(code), ["ambiguous"], 600_000),
    ).toEqual({ status: "ambiguous", times: [0, 1_000, 6_000], others: [] });
  });

  it("fails after six attempts over that transport", async () => {
    const { status, times, others } = await sent(() => refusalForNow(code), [], 1_000_000);
    expect([status, times?.length, others]).toEqual(["failed", 6, []]);
  });
});

it("a message that is refused for a time of a wrong form is retried after the usual pause", async () => {
  const refused = { ...refusalForNow("unreachable"), retry_after_ms: "5" as unknown as number };
  expect(
    await sent((attempt) => (attempt.number === 1 ? refused : accepted(attempt)), [], 60_000),
  ).toEqual({ status: "sent", times: [0, 1_000], others: [] });
});

it("a message is retried when the carrier asked, also if its refusal is stored and the storage then away for 20 s", async () => {
  const { clock, started } = world();
  let state: "present" | "leaving" | "away" = "present";
  const storage = withGroups(memory(), {
    async commit(writes, group) {
      if (state === "away") await group.abort();
      else await group.commit(writes);
      if (state === "present") return;
      state = "away";
      throw new TidingsError("storage_unavailable", "The connection was lost.");
    },
  });
  const line = carrier({
    send(_, attempt) {
      if (attempt.number > 1) return accepted(attempt);
      state = "leaving";
      return busy(30_000);
    },
  });
  const one = await started(storage, { transports: [line] });
  const begun = clock.now();
  await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.advance(20_000);
  expect(state).toBe("away");
  state = "present";
  await clock.advance(60_000);
  expect(line.calls.map(({ at }) => at - begun)).toEqual([0, 30_000]);
});
