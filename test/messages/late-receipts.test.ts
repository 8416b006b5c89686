/** Receipts that come late, twice or without an id, about messages with several attempts. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { attempts } from "../../src/messages/rows.ts";
import type { Route } from "../../src/ports/route.ts";
import type { Write } from "../../src/ports/storage.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";
import { busy, carrier, lost, type Carrier } from "../support/engines/carrier.ts";
import { hello } from "../support/engines/over-two.ts";
import { world } from "../support/engines/world.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";

const minute = 60_000;

describe("of two attempts over one carrier that reports without ids", () => {
  /** The first attempt was not sent, says a look-up, and the answers of both are lost. */
  async function sentByTheSecond() {
    const { clock, started } = world();
    const line = carrier({
      send: () => lost,
      lookup: (_, { number }) => ({ outcome: number === 1 ? "not_sent" : "unknown" }),
      receipts: { timeout_ms: 10 * minute, lookups_ms: [] },
    });
    const one = await started(memory(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(20_000);
    await line.report("sent", { call: 1, at: clock.now() - 3_000 });
    return { clock, line, one, id };
  }

  it("the second keeps its wait for receipts when the first tells its id", async () => {
    const { clock, line, one, id } = await sentByTheSecond();
    await line.report("sent", { by: "both" });
    expect((await one.messages.get(id)).provider_message_id).toBeNull();
    await clock.advance(60 * minute);
    expect((await one.messages.get(id)).status).toBe("unconfirmed");
  });

  it("the second keeps its status when the first is given up", async () => {
    const { clock, line, one, id } = await sentByTheSecond();
    await clock.advance(60 * minute);
    const before = await one.messages.get(id);
    expect(before.status).toBe("unconfirmed");
    await line.report("undelivered");
    const { status, sent_at } = await one.messages.get(id);
    expect({ status, sent_at }).toEqual({ status: "unconfirmed", sent_at: before.sent_at });
  });
});

describe("a carrier's report that it filtered the message", () => {
  const routes: readonly Route[] = [
    {
      transports: ["sandbox", "second", "third"],
      fallBackAfter: ["ambiguous", "undelivered"],
    },
  ];
  const giveUp = (line: Carrier, code: "filtered" | "unknown" | "carrier_unavailable") =>
    line.report("undelivered", { error: { code, message: "" } });

  it("counts though the carrier then gives another reason", async () => {
    const { clock, started } = world();
    const first = carrier({ send: () => lost });
    const second = carrier({ name: "second" });
    const third = carrier({ name: "third" });
    const one = await started(memory(), { transports: [first, second, third], routes });
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await giveUp(first, "filtered");
    await giveUp(first, "unknown");
    await giveUp(second, "carrier_unavailable");
    await clock.advance(minute);
    expect(third.calls).toEqual([]);
    expect((await one.messages.get(id)).status).toBe("undelivered");
  });

  it("counts though another engine records the second carrier's answer", async () => {
    const { clock, engine } = world();
    const storage = memory();
    const answer = Promise.withResolvers<SendAnswer>();
    const lines = () => ({
      first: carrier({ send: () => lost }),
      second: carrier({ name: "second", send: () => answer.promise }),
      third: carrier({ name: "third" }),
    });
    const [mine, others] = [lines(), lines()];
    const isAnswer = (write: Write): boolean =>
      writesTo(attempts, "update")(write) && "row" in write && write.row["outcome"] === "rejected";
    const slow = overtaken(storage, isAnswer, async () => {
      const { attempt_id } = mine.first.attempt();
      const error = { code: "filtered", message: "" } as const;
      const receipt = { status: "undelivered", at: clock.now(), error } as const;
      await others.first.sink().receipt({ attempt_id }, receipt);
    });
    const one = engine(slow, { transports: Object.values(mine), routes });
    const two = engine(storage, { transports: Object.values(others), routes });
    await one.start();
    const { id } = await one.messages.send(hello);
    await clock.settle();
    await two.start();
    await clock.settle();
    answer.resolve(busy(20_000));
    await clock.advance(minute);
    expect([...mine.third.calls, ...others.third.calls]).toEqual([]);
    expect((await one.messages.get(id)).status).not.toBe("sent");
  });
});

it("a message that waits for a retry ends if its carrier reports that it was not delivered", async () => {
  const { clock, started } = world();
  const line = carrier({ send: () => busy() });
  const one = await started(memory(), { transports: [line] });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  await line.report("undelivered");
  await clock.advance(minute);
  expect((await one.messages.get(id)).status).toBe("undelivered");
  expect(line.calls).toHaveLength(1);
});

it("a carrier's report that comes before its answer is not taken back by the answer", async () => {
  const { clock, started } = world();
  const answer = Promise.withResolvers<SendAnswer>();
  const first = carrier({ send: () => answer.promise });
  const second = carrier({ name: "second" });
  const third = carrier({ name: "third" });
  const routes: readonly Route[] = [
    { transports: ["sandbox", "second", "third"], fallBackAfter: ["undelivered"] },
  ];
  const one = await started(memory(), { transports: [first, second, third], routes });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  await first.report("undelivered");
  answer.resolve({ outcome: "accepted", provider_message_id: "p-1" });
  await clock.settle();
  await second.report("undelivered");
  await clock.advance(minute);
  // The first carrier has given the message up, so the message does not stay with it.
  expect(third.calls).toHaveLength(1);
  expect((await one.messages.get(id)).status).toBe("sent");
});

it("of the receipts that come before the answer to a call, the first 50 are kept", async () => {
  const { clock, started } = world();
  const answer = Promise.withResolvers<SendAnswer>();
  const line = carrier({ send: () => answer.promise });
  const one = await started(memory(), { transports: [line] });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  for (let n = 0; n < 60; n++) {
    const subject = { provider_message_id: "p-1" };
    await line.sink().receipt(subject, { status: "sent", at: clock.now() + n });
  }
  answer.resolve({ outcome: "accepted", provider_message_id: "p-1" });
  await clock.settle();
  const { data } = await one.messages.timeline(id);
  expect(data.filter(({ type }) => type === "receipt")).toHaveLength(50);
});
