/** Messages that a carrier refuses after its answer had counted as lost. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { LookupAnswer, SendAnswer } from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  refusal,
  refusalForNow,
  type Carrier,
} from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const from = "+15005550100";
/** How long the deferral and the limit let a message wait. */
const pauseMs = 100_000;

interface Setting {
  readonly status: "queued" | "scheduled";
  /** Whether there is a second carrier to fall back to. Otherwise, a look-up finds nothing. */
  readonly fallsBack: boolean;
}

/**
 * Sends a message whose answer counts as lost. It cannot go on at once: its sender has a limit, or a
 * policy of the host application defers it.
 */
async function waiting({ status, fallsBack }: Setting) {
  const { clock, engine } = world();
  const answer = held<SendAnswer>();
  const first = carrier({
    send: ({ body }, attempt) =>
      body === "Hello" && attempt.number === 1 ? answer.promise : accepted(attempt),
    lookup: (): LookupAnswer => ({ outcome: fallsBack ? "unknown" : "not_sent" }),
  });
  const second = carrier({ name: "second" });
  let isResting = status === "scheduled";
  const rest = {
    name: "rest",
    evaluate: ({ now }: { readonly now: number }) =>
      isResting && first.calls.length === 1
        ? { verdict: "defer" as const, until: now + pauseMs, reason: "rest" }
        : { verdict: "allow" as const },
  };
  const one = engine(memory(), {
    transports: [first, second],
    policies: [rest],
    ...(fallsBack && {
      routes: [{ transports: ["sandbox", "second"], fallBackAfter: ["ambiguous" as const] }],
    }),
  });
  const pace = status === "queued" ? { messages_per_second: 1_000 / pauseMs } : {};
  await one.senders.create({ address: from, channels: ["sms"], transport: "sandbox", ...pace });
  await one.start();
  const { id } = await one.messages.send({ to: "+15005550001", from, body: "Hello" });
  const message = () => one.messages.get(id);
  await clock.advanceUntil(() => first.calls.length > 0);
  // It uses up the limit of its sender once more.
  if (status === "queued") await one.messages.send({ to: "+15005550002", from, body: "Other" });
  expect((await message()).status).toBe("sending");
  for (let i = 0; i < 180 && (await message()).status !== status; i++) await clock.advance(1_000);
  expect(await message()).toMatchObject({ status });
  isResting = false;
  const failures = async () => (await one.events.list({ type: "message.failed" })).data.length;
  const callsOf = ({ calls }: Carrier) => calls.filter(({ message: { body } }) => body === "Hello");
  const calls = () => ({ first: callsOf(first), second: callsOf(second) });
  return { clock, message, failures, answer, calls };
}

const cases = (["queued", "scheduled"] as const).flatMap((status) =>
  [true, false].map((fallsBack): Setting => ({ status, fallsBack })),
);

it.each(cases)(
  "a $status message that the carrier filters goes to no carrier again (falls back: $fallsBack)",
  async (setting) => {
    const { clock, message, failures, answer, calls } = await waiting(setting);
    answer.answer(refusal("filtered"));
    await clock.settle();
    expect(await message()).toMatchObject({ status: "failed", error: { code: "filtered" } });
    await clock.advance(10 * pauseMs);
    const { first, second } = calls();
    expect([first.length, second.length]).toEqual([1, 0]);
    expect(await failures()).toBe(1);
  },
);

it.each(cases)(
  "a $status message that the carrier refuses for its own reasons is only sent by another one (falls back: $fallsBack)",
  async (setting) => {
    const { clock, message, answer, calls } = await waiting(setting);
    answer.answer(refusal("invalid_sender"));
    await clock.advance(10 * pauseMs);
    const { first, second } = calls();
    expect([first.length, second.length]).toEqual([1, setting.fallsBack ? 1 : 0]);
    expect((await message()).status).toBe(setting.fallsBack ? "sent" : "failed");
  },
);

it.each(cases)(
  "a $status message that the carrier filters for now is sent again when the carrier asked (falls back: $fallsBack)",
  async (setting) => {
    const { clock, message, answer, calls } = await waiting(setting);
    const refusedAt = clock.now();
    answer.answer(refusalForNow("filtered", 5 * pauseMs));
    await clock.advance(10 * pauseMs);
    expect(await message()).toMatchObject({ status: "sent", transport: "sandbox" });
    const { first, second } = calls();
    expect([first.length, second.length]).toEqual([2, 0]);
    expect(first[1]?.at).toBeGreaterThanOrEqual(refusedAt + 5 * pauseMs);
  },
);

it.each(cases)(
  "a $status message that the carrier cannot take for now keeps its plan, or waits as long as the carrier asks (falls back: $fallsBack)",
  async (setting) => {
    const { clock, message, answer, calls } = await waiting(setting);
    const refusedAt = clock.now();
    answer.answer(busy(5 * pauseMs));
    await clock.advance(10 * pauseMs);
    expect((await message()).status).toBe("sent");
    const { first, second } = calls();
    expect([first.length, second.length]).toEqual(setting.fallsBack ? [1, 1] : [2, 0]);
    const at = (setting.fallsBack ? second[0] : first[1])?.at ?? expect.fail();
    if (setting.fallsBack) expect(at).toBeLessThan(refusedAt + 5 * pauseMs);
    else expect(at).toBeGreaterThanOrEqual(refusedAt + 5 * pauseMs);
  },
);

it("a deferred message that one carrier filters is ambiguous while another one may have it", async () => {
  const { clock, engine } = world();
  const answer = held<SendAnswer>();
  const first = carrier({ send: () => answer.promise });
  const second = carrier({
    name: "second",
    send: () => ({ outcome: "ambiguous", error: { code: "answer_lost", message: "Lost." } }),
  });
  const third = carrier({ name: "third" });
  const rest = {
    name: "rest",
    evaluate: ({ now }: { readonly now: number }) =>
      second.calls.length === 0
        ? { verdict: "allow" as const }
        : { verdict: "defer" as const, until: now + pauseMs, reason: "rest" },
  };
  const one = engine(memory(), {
    transports: [first, second, third],
    policies: [rest],
    routes: [{ transports: ["sandbox", "second", "third"], fallBackAfter: ["ambiguous" as const] }],
  });
  await one.senders.create({ address: from, channels: ["sms"], transport: "sandbox" });
  await one.start();
  const { id } = await one.messages.send({ to: "+15005550001", from, body: "Hello" });
  const message = () => one.messages.get(id);
  for (let i = 0; i < 180 && (await message()).status !== "scheduled"; i++) {
    await clock.advance(1_000);
  }
  expect(await message()).toMatchObject({ status: "scheduled", transport: "third" });
  answer.answer(refusal("filtered"));
  await clock.settle();
  expect((await message()).status).toBe("ambiguous");
  await clock.advance(10 * pauseMs);
  expect([first, second, third].map(({ calls }) => calls.length)).toEqual([1, 1, 0]);
});
