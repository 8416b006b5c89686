import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { Write } from "../../src/ports/storage.ts";
import type {
  LookupAnswer,
  ReceiptSubject,
  SendAnswer,
  SendContext,
} from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  held,
  lost,
  providerId,
  refused,
  type Script,
} from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };
const minute = 60_000;

/** The ids of an attempt that the carrier accepted. */
interface Known extends Pick<SendContext, "attempt_id"> {
  readonly id: string;
}

describe.each(lightStorages)("the evidence of a message on $name", ({ open }) => {
  it("is not looked up while a call past its deadline may still be running", async () => {
    const { clock, started } = world();
    const slow = held<SendAnswer>();
    const line = carrier({ send: () => slow.promise, lookup: () => ({ outcome: "not_sent" }) });
    const one = await started(open().connect(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(40_000);
    slow.answer({ outcome: "accepted", provider_message_id: "late" });
    await clock.advance(10 * minute);
    expect([line.calls.length, (await one.messages.get(id)).status]).toEqual([1, "sent"]);
    // The lost answer and the late one each have their change of status.
    const { data } = await one.messages.timeline(id);
    expect(data.flatMap((each) => (each.type === "transition" ? [each.to] : []))).toEqual([
      "queued",
      "sending",
      "ambiguous",
      "sent",
    ]);
  });

  it("of a look-up is not replaced by a weaker late answer", async () => {
    const { clock, started } = world();
    const slow = held<SendAnswer>();
    const line = carrier({
      send: () => slow.promise,
      lookup: (_, attempt) => ({
        outcome: "sent",
        provider_message_id: providerId(attempt),
        receipts: [],
      }),
    });
    const one = await started(open().connect(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(3 * minute);
    slow.answer(lost);
    await clock.advance(minute);
    await line.report("delivered", { by: "provider" });
    expect((await one.messages.get(id)).status).toBe("delivered");
  });

  it("that settles a message which waits for a retry unblocks the conversation", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: (message, attempt) =>
        message.body === "first" ? busy(60 * minute) : accepted(attempt),
    });
    const one = await started(open().connect(), { transports: [line] });
    await one.messages.send({ ...hello, body: "first" });
    const next = await one.messages.send({ ...hello, body: "next" });
    await clock.advance(minute);
    expect((await one.messages.get(next.id)).status).toBe("queued");
    await line.report("delivered");
    await clock.advance(1_000);
    expect((await one.messages.get(next.id)).status).toBe("sent");
  });

  it("is looked up at increasing intervals, also after a late first look-up", async () => {
    const { clock, started } = world();
    const ground = open();
    const line = carrier({
      send: () => new Promise(() => {}),
      lookup: () => ({ outcome: "unknown" }),
    });
    const one = await started(ground.connect(), { transports: [line] });
    await one.messages.send(hello);
    await clock.advance(20 * minute);
    const pauses = line.lookups.slice(1).map(({ at }, i) => at - (line.lookups[i]?.at ?? 0));
    expect(pauses.slice(0, 4)).toEqual([10_000, 30_000, 120_000, 600_000]);
  });

  it("tolerates invalid times from a carrier", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: (_, attempt) => (attempt.number === 1 ? busy(1_000.5) : accepted(attempt)),
    });
    const one = await started(open().connect(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(5_000);
    for (const at of [Number.NaN, -1, 1.5, 1e300]) {
      await line.report("delivered", { call: 1, at });
    }
    const { status, delivered_at } = await one.messages.get(id);
    expect([status, delivered_at?.length]).toEqual(["delivered", 24]);
  });

  it.each<[string, (known: Known) => ReceiptSubject]>([
    ["an undefined attempt_id", ({ id }) => ({ attempt_id: undefined, provider_message_id: id })],
    [
      "an undefined provider_message_id",
      ({ attempt_id }) => ({ attempt_id, provider_message_id: undefined }),
    ],
  ])("applies a receipt whose subject has %s", async (_, subjectOf) => {
    const { clock, log, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    const message = await one.messages.send(hello);
    await clock.advance(1_000);
    const attempt = line.attempt();
    const { attempt_id } = attempt;
    const subject = subjectOf({ attempt_id, id: providerId(attempt) });
    await line.sink().receipt(subject, { status: "delivered", at: clock.now() });
    expect((await one.messages.get(message.id)).status).toBe("delivered");
    expect(log).toEqual([]);
  });

  it("is listed in the timeline in write order, even if the clock jumps", async () => {
    const { clock, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(1_000);
    clock.step(-60 * minute);
    await one.sandbox.receipts(id, [{ status: "delivered" }]);
    const { data } = await one.messages.timeline(id);
    const steps = data.flatMap((entry) =>
      entry.type === "transition" ? [`${entry.from} ${entry.to}`] : [],
    );
    expect(steps).toEqual(["null queued", "queued sending", "sending sent", "sent delivered"]);
  });
});

it("counts only if it is from the transport that sent the message", async () => {
  const { clock, started } = world();
  const [first, second] = [carrier(), carrier({ name: "second" })];
  const one = await started(memory(), { transports: [first, second] });
  const { id } = await one.messages.send(hello);
  await clock.settle();
  const attempt = first.attempt();
  const { attempt_id } = attempt;
  const receipt = { status: "delivered", at: clock.now() } as const;
  await second.sink().receipt({ attempt_id }, receipt);
  expect((await one.messages.get(id)).status).toBe("sent");
  await first.report("delivered");
  expect((await one.messages.get(id)).status).toBe("delivered");
});

it("of a look-up is not taken from a message that is being sent in the contact's next conversation", async () => {
  const { clock, started } = world();
  const slow = held<SendAnswer>();
  let listed: string | undefined;
  const line = carrier({
    send(_, attempt) {
      if (line.calls.length === 1) return lost;
      listed = providerId(attempt);
      return slow.promise;
    },
    lookup: () => ({
      outcome: "alike",
      messages: listed === undefined ? [] : [{ provider_message_id: listed, receipts: [] }],
    }),
  });
  const one = await started(memory(), { transports: [line] });
  const first = await one.messages.send(hello);
  await clock.settle();
  await one.conversations.update(first.conversation_id, { status: "closed" });
  const second = await one.messages.send(hello);
  expect(second.conversation_id).not.toBe(first.conversation_id);
  await clock.advance(6_000);
  expect(line.lookups).not.toEqual([]);
  slow.answer({ outcome: "accepted", provider_message_id: listed ?? "" });
  await clock.settle();
  expect((await one.messages.get(first.id)).status).toBe("ambiguous");
  expect(await one.messages.get(second.id)).toMatchObject({
    status: "sent",
    provider_message_id: listed,
  });
});

describe.each(lightStorages)("what a look-up lists on $name", ({ open }) => {
  const list = (...ids: readonly string[]): LookupAnswer => ({
    outcome: "alike",
    messages: ids.map((id) => ({ provider_message_id: id, receipts: [] })),
  });
  /** A carrier whose answers are lost, and which has one message, `p-second`. */
  const started = async (script: Script = {}) => {
    const { clock, started } = world();
    const line = carrier({ send: () => lost, lookup: () => list("p-second"), ...script });
    const storage = open().connect();
    const one = await started(storage, { transports: [line] });
    return { clock, storage, one, line };
  };

  it("is not taken from a message that is being sent behind a released one", async () => {
    const slow = held<SendAnswer>();
    const { clock, one, line } = await started({
      send: () => (line.calls.length === 1 ? lost : slow.promise),
    });
    const send_at = new Date(clock.now() + 3_000).toISOString();
    const first = await one.messages.send(hello);
    await clock.settle();
    // Released behind the second one, but before it in the conversation's order.
    await one.messages.send({ ...hello, body: "reminder", send_at });
    const second = await one.messages.send(hello);
    await clock.advance(10_000);
    expect([line.lookups.length > 0, line.calls.length]).toEqual([true, 2]);
    slow.answer({ outcome: "accepted", provider_message_id: "p-second" });
    await clock.settle();
    expect((await one.messages.get(first.id)).status).toBe("ambiguous");
    expect(await one.messages.get(second.id)).toMatchObject({
      status: "sent",
      provider_message_id: "p-second",
    });
  });

  it.each([
    ["", false],
    [" although the first is redacted", true],
  ])("is given to neither of two lost messages%s until a receipt names one", async (_, redacts) => {
    const { clock, one, line } = await started();
    const first = await one.messages.send(hello);
    const second = await one.messages.send(hello);
    await clock.settle();
    if (redacts) await one.messages.redact(first.id);
    const statuses = () =>
      Promise.all([first, second].map(async ({ id }) => (await one.messages.get(id)).status));
    await clock.advance(minute);
    expect(line.lookups.length).toBeGreaterThan(2);
    expect(await statuses()).toEqual(["ambiguous", "ambiguous"]);
    const { attempt_id } = line.attempt(1);
    const subject = { attempt_id, provider_message_id: "p-second" };
    await line.sink().receipt(subject, { status: "delivered", at: clock.now() });
    await clock.advance(10 * minute);
    expect(await statuses()).toEqual(["ambiguous", "delivered"]);
  });

  longTest(
    "is given to neither of two lost messages, however many newer ones are scheduled",
    async () => {
      const { clock, one, line } = await started();
      const lostOnes = [await one.messages.send(hello), await one.messages.send(hello)];
      await clock.settle();
      const send_at = new Date(clock.now() + 120 * minute).toISOString();
      const later = Array.from({ length: 100 }, () => ({ ...hello, send_at }));
      for (let i = 0; i < 11; i++) await one.messages.batch({ messages: later });
      await clock.advance(minute);
      expect(line.lookups.length).toBeGreaterThan(2);
      const after = await Promise.all(lostOnes.map(({ id }) => one.messages.get(id)));
      expect(after.map(({ status }) => status)).toEqual(["ambiguous", "ambiguous"]);
    },
  );

  it("counts although other messages were lost, long before or with another text", async () => {
    let isListed = false;
    const { clock, storage, one } = await started({
      lookup: ({ body }) => (isListed && body === hello.body ? list("p-second") : list()),
    });
    const earlier = await one.messages.send(hello);
    await fastForward(clock, storage, 120 * minute);
    isListed = true;
    const other = await one.messages.send({ ...hello, body: "Another text" });
    const { id } = await one.messages.send(hello);
    await clock.advance(minute);
    expect(await one.messages.get(id)).toMatchObject({
      status: "sent",
      provider_message_id: "p-second",
    });
    const others = await Promise.all([earlier, other].map((each) => one.messages.get(each.id)));
    expect(others.map(({ status }) => status)).toEqual(["ambiguous", "ambiguous"]);
  });
});

it.each([
  { commitMs: 0, withinMs: 2_000 },
  // The process that records the answer stalls.
  { commitMs: 5_000, withinMs: minute },
])(
  "a receipt that another engine gets while the answer is recorded, for $commitMs ms, is applied within $withinMs ms",
  async ({ commitMs, withinMs }) => {
    const { clock, engine } = world();
    const storage = memory();
    const lines = [carrier(), carrier()] as const;
    let races = 0;
    /** Commits the receipt through the other engine, after the answer's transaction has read. */
    const before = (other: (typeof lines)[number]) => async (writes: readonly Write[]) => {
      const answer = writes.find(
        (write) => write.kind === "update" && write.changed.includes("answer_id"),
      );
      if (answer?.kind !== "update" || races++ > 0) return;
      const provider_message_id = String(answer.row["provider_message_id"]);
      await other.sink().receipt({ provider_message_id }, { status: "delivered", at: clock.now() });
      if (commitMs > 0) await clock.sleep(commitMs);
    };
    const one = engine(beforeCommits(storage, before(lines[1])), { transports: [lines[0]] });
    const two = engine(beforeCommits(storage, before(lines[0])), { transports: [lines[1]] });
    await one.start();
    await two.start();
    const { id } = await one.messages.send(hello);
    await clock.advance(withinMs);
    expect([races, (await one.messages.get(id)).status]).toEqual([1, "delivered"]);
  },
);

it.each([
  ["undelivered", "sent"],
  ["sent", "undelivered"],
] as const)(
  "a message that has failed reports no second failure, whichever receipts come: %s, then %s",
  async (...told) => {
    const { clock, started } = world();
    const line = carrier({
      send: (_, attempt) => (attempt.number === 1 ? busy(1_000) : refused),
    });
    const one = await started(memory(), { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(5_000);
    expect((await one.messages.get(id)).status).toBe("failed");
    for (const status of told) await line.report(status, { by: "both" });
    expect((await one.messages.get(id)).status).toBe("undelivered");
    const failures = (await one.events.list({ type: "message.failed" })).data;
    expect(failures.map(({ data }) => data)).toMatchObject([{ message_id: id, status: "failed" }]);
    expect((await one.account().usageByHour()).data).toMatchObject([{ accepted: 1, failed: 1 }]);
  },
);

describe.each(lightStorages)("idempotency keys on $name", ({ open }) => {
  it("are kept past their lifetime while the message is looked up", async () => {
    const { clock, started } = world();
    const line = carrier({ send: () => lost, lookup: () => ({ outcome: "unknown" }) });
    const storage = open().connect();
    const one = await started(storage, { transports: [line], idempotencyHours: 1 });
    const input = { ...hello, send_at: new Date(clock.now() + 80 * minute).toISOString() };
    const { id } = await one.messages.send(input, { idempotencyKey: "k" });
    await fastForward(clock, storage, 83 * minute);
    expect((await one.messages.send(input, { idempotencyKey: "k" })).id).toBe(id);
  });

  it("of a batch are kept while an item is scheduled", async () => {
    const { clock, started } = world();
    const storage = open().connect();
    const one = await started(storage, { idempotencyHours: 1 });
    const batch = {
      messages: [hello, { ...hello, send_at: new Date(clock.now() + 300 * minute).toISOString() }],
    };
    const first = await one.messages.batch(batch, { idempotencyKey: "b" });
    await fastForward(clock, storage, 90 * minute);
    const again = await one.messages.batch(batch, { idempotencyKey: "b" });
    expect(again.data.map((item) => item.ok && item.message.id)).toEqual(
      first.data.map((item) => item.ok && item.message.id),
    );
    expect((await one.messages.list()).data).toHaveLength(2);
  });
});

it("a reset completes under steady traffic and keeps the new messages", async () => {
  const { engine } = world();
  const one = engine(memory());
  for (let i = 0; i < 30; i++) await one.messages.send(hello);
  let isOver = false;
  let sent = 0;
  const traffic = (async () => {
    for (; !isOver && sent < 20_000; sent++) await one.messages.send(hello);
  })();
  const { removed } = await one.sandbox.reset();
  isOver = true;
  await traffic;
  expect(removed).toBeGreaterThanOrEqual(30);
  expect(sent).toBeLessThan(20_000);
});
