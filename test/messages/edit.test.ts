/** Whether a message can be edited. */
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Policy } from "../../src/ports/policy.ts";
import type { Route } from "../../src/ports/route.ts";
import type { SendAnswer, SendContext } from "../../src/ports/transport.ts";
import { accepted, busy, carrier, held, lost } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";

const hour = 3_600_000;
const routes: Route[] = [
  { transports: ["sandbox", "second"], fallBackAfter: ["ambiguous", "undelivered"] },
];

/** Defers a message between the first carrier's answer and the call of the second carrier. */
async function deferred(answerOf: (attempt: SendContext) => SendAnswer) {
  const { clock, engine } = world();
  const answer = held<SendAnswer>();
  const first = carrier({ send: () => answer.promise });
  const one = engine(memory(), {
    transports: [first, carrier({ name: "second" })],
    routes,
    quietHours: { from: "21:00", to: "09:00" },
  });
  await clock.advance(21 * hour - 2_000);
  await one.start();
  const input = { to: "+15005550001", body: "Hello", category: "marketing" } as const;
  const { id } = await one.messages.send(input);
  await clock.advance(5_000);
  answer.answer(answerOf(first.attempt()));
  await clock.settle();
  const tell = async (status: "undelivered" | "delivered"): Promise<void> => {
    const error = { code: "carrier_unavailable", message: "Down." } as const;
    await first.report(status, status === "undelivered" ? { error } : {});
    await clock.settle();
  };
  return { engine: one, id, tell };
}

it.each([
  ["may have it, because its answer is lost", () => lost, false],
  ["accepted it and then gave it up", accepted, true],
] as const)("a message is not editable once a carrier %s", async (_, answerOf, isGivenUp) => {
  const { engine, id, tell } = await deferred(answerOf);
  if (isGivenUp) await tell("undelivered");
  expect((await engine.messages.get(id)).status).toBe("scheduled");
  await expect(engine.messages.edit(id, { body: "Changed" })).rejects.toMatchObject({
    code: "not_editable",
  });
  await tell("delivered");
  expect(await engine.messages.get(id)).toMatchObject({ status: "delivered", body: "Hello" });
});

it("a message is editable if carriers have only refused it", async () => {
  const { engine, id } = await deferred(() => busy());
  expect((await engine.messages.get(id)).status).toBe("scheduled");
  expect((await engine.messages.edit(id, { body: "Changed" })).body).toBe("Changed");
});

it("an inbound message is not editable", async () => {
  const { engine } = world();
  const one = engine(memory());
  await one.sandbox.inbound({ from: "+15005550001", body: "Hello" });
  const [message] = (await one.messages.list({})).data;
  await expect(one.messages.edit(message?.id ?? "", { body: "Hi" })).rejects.toMatchObject({
    code: "not_editable",
    message: "The message is received; only a scheduled one can be edited.",
  });
});

it("an edit that leaves a wrong message has the errors of sending that message", async () => {
  const { clock, engine } = world();
  const one = engine(memory());
  const message = { to: "+15005550001", channel: "sms", body: "Hello" } as const;
  const send_at = new Date(clock.now() + hour).toISOString();
  const { id } = await one.messages.send({ ...message, send_at });
  for (const change of [{ body: "" }, { media: [{ url: "https://example.com/a.png" }] }]) {
    const [edited, sent] = await Promise.all(
      [one.messages.edit(id, change), one.messages.send({ ...message, ...change })].map((done) =>
        done.catch((error: unknown) => error instanceof TidingsError && error.errors),
      ),
    );
    expect(edited).toEqual([expect.objectContaining({ code: "invalid" })]);
    expect(edited).toEqual(sent);
  }
});

it("the timeline names only the fields that an edit sets", async () => {
  const { clock, engine } = world();
  const one = engine(memory());
  const send_at = new Date(clock.now() + hour).toISOString();
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello", send_at });
  await one.messages.edit(id, { body: "Changed", send_at: undefined, metadata: undefined });
  const edits = (await one.messages.timeline(id)).data.filter(({ type }) => type === "edit");
  expect(edits).toEqual([expect.objectContaining({ fields: ["body"] })]);
});

it("an edit is judged by the policies of the time at which the message is sent", async () => {
  const { clock, engine } = world();
  const opens = clock.now() + 3_600_000;
  const hours: Policy = {
    name: "hours",
    evaluate: ({ now }) =>
      now < opens
        ? { verdict: "deny", code: "closed", message: "We are closed." }
        : { verdict: "allow" },
  };
  const one = engine(memory(), { policies: [hours] });
  const send_at = new Date(opens).toISOString();
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello", send_at });
  expect((await one.messages.edit(id, { body: "Good morning" })).body).toBe("Good morning");
  const early = new Date(opens - 60_000).toISOString();
  await expect(one.messages.edit(id, { send_at: early })).rejects.toMatchObject({
    code: "policy_denied",
  });
});
