/** The slot of a message is free once its carrier has answered, before the answer is committed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import { attempts, messages } from "../../src/messages/rows.ts";
import type { SendAnswer, StoragePort } from "../../src/ports/index.ts";
import { decodeLane } from "../../src/queue/jobs/lane.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { accepted, carrier, held, type Carrier } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { runs } from "../support/runs.ts";
import { beforeCommits, writesTo } from "../support/storage/groups.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { embeddedStorages, lightStorages } from "../support/storage/storages.ts";

const to = (n: number): string => `+1500555${1_000 + n}`;

const bodiesOf = ({ calls }: Carrier): readonly string[] =>
  calls.map(({ message }) => message.body ?? "");

/** A carrier that answers when the test says so. It counts its calls in progress. */
function slowCarrier() {
  const open = new Map<string, () => void>();
  const calls = { most: 0 };
  const line = carrier({
    async send({ body }, attempt) {
      const { promise, answer } = held<SendAnswer>();
      open.set(body, () => answer(accepted(attempt)));
      calls.most = Math.max(calls.most, open.size);
      const given = await promise;
      open.delete(body);
      return given;
    },
  });
  const answer = (body: string): void => (open.get(body) ?? expect.fail(`no call: ${body}`))();
  return { line, calls, open, answer };
}

/** Whether the answer of a carrier is recorded. */
const recordsAnswer = writesTo(attempts, "update");

/** A storage that refuses to record answers while `isDown`. */
function failing(storage: StoragePort) {
  const state = { isDown: false };
  const port = beforeCommits(storage, async (writes) => {
    if (state.isDown && writes.some(recordsAnswer)) {
      throw new TidingsError("storage_unavailable", "The disk is gone.");
    }
  });
  return { state, port };
}

describe.each(lightStorages)("on $name, with one slot", ({ open }) => {
  it("a message that is queued during the call before it is sent after it, once and in order", async () => {
    const { clock, started } = world();
    const { line, calls, open: inCall, answer } = slowCarrier();
    const one = await started(open().connect(), { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    const send = (n: number, body: string) => one.messages.send({ to: to(n), body });
    await send(1, "a1");
    await send(2, "b1");
    await clock.settle();
    expect([...inCall.keys()]).toEqual(["a1"]);
    for (const body of ["a2", "a3"]) await send(1, body);
    await clock.settle();
    expect([...inCall.keys()]).toEqual(["a1"]);
    while (inCall.size > 0) {
      for (const body of inCall.keys()) answer(body);
      await clock.advance(1_000);
    }
    expect(new Set(bodiesOf(line))).toEqual(new Set(["a1", "a2", "a3", "b1"]));
    expect(line.calls).toHaveLength(4);
    expect(bodiesOf(line).filter((body) => body.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(calls.most).toBe(1);
    const { data } = await one.messages.list();
    expect(data.map(({ status }) => status)).toEqual(["sent", "sent", "sent", "sent"]);
  });

  it("a conversation that gets messages all the time leaves the slot to another one", async () => {
    const { clock, started } = world();
    const { line, answer } = slowCarrier();
    const one = await started(open().connect(), { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    await one.messages.send({ to: to(1), body: "busy 1" });
    await one.messages.send({ to: to(2), body: "other" });
    for (let n = 1; n <= 3 && !bodiesOf(line).includes("other"); n++) {
      // Jobs that are due at the same time have no order.
      await clock.advance(1);
      await one.messages.send({ to: to(1), body: `busy ${n + 1}` });
      await clock.settle();
      answer(`busy ${n}`);
      await clock.advance(1_000);
    }
    expect(bodiesOf(line)).toEqual(["busy 1", "other"]);
  });

  it("one more carrier is called while an answer cannot be stored, but no third", async () => {
    const { clock, started } = world();
    const { line, answer } = slowCarrier();
    const { state, port } = failing(open().connect());
    const one = await started(port, { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    for (const n of [1, 2, 3]) await one.messages.send({ to: to(n), body: `${n}` });
    await clock.settle();
    state.isDown = true;
    answer("1");
    await clock.advance(1_000);
    expect(bodiesOf(line)).toEqual(["1", "2"]);
    answer("2");
    await clock.advance(2_000);
    // The second one keeps its slot until one of the two is stored.
    expect(bodiesOf(line)).toEqual(["1", "2"]);
    state.isDown = false;
    await clock.advance(10_000);
    expect(bodiesOf(line)).toEqual(["1", "2", "3"]);
    answer("3");
    await clock.advance(10_000);
    const { data } = await one.messages.list();
    expect(data.map(({ status }) => status)).toEqual(["sent", "sent", "sent"]);
  });
});

// PostgreSQL has a transaction for each lease, and one process commits them one after the other.
it.each(embeddedStorages)(
  "on $name, one commit records an answer and begins the next conversation's message",
  async ({ open }) => {
    const { clock, started } = world();
    const { line, answer } = slowCarrier();
    const slow = { ms: 0, commits: 0 };
    const port = beforeCommits(open().connect(), () => {
      slow.commits++;
      return clock.sleep(slow.ms);
    });
    const one = await started(port, { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    for (const n of [1, 2]) await one.messages.send({ to: to(n), body: `${n}` });
    await clock.settle();
    Object.assign(slow, { ms: 100, commits: 0 });
    const answeredAt = clock.now();
    answer("1");
    await clock.advanceUntil(() => line.calls.length > 1);
    expect([clock.now() - answeredAt, slow.commits]).toEqual([100, 1]);
    expect(bodiesOf(line)).toEqual(["1", "2"]);
  },
);

describe.each(lightStorages)("on $name, after a call that missed its deadline", ({ open }) => {
  it("the message that was queued meanwhile is sent in the slow lane", async () => {
    const { clock, started } = world();
    const { line, open: inCall } = slowCarrier();
    const storage = open().connect();
    const one = await started(storage, { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    await one.messages.send({ to: to(1), body: "first" });
    await clock.advance(5_000);
    await one.messages.send({ to: to(1), body: "second" });
    await clock.advanceUntil(() => inCall.has("second"));
    const sends = (await rowsOf(storage, jobs)).filter(({ kind }) => kind === "send");
    expect(sends.map(({ lane }) => decodeLane(lane).slow)).toEqual([true]);
    // The slot of the usual lane is free, though both calls still go on.
    await one.messages.send({ to: to(2), body: "other" });
    await clock.settle();
    expect([...inCall.keys()]).toEqual(["first", "second", "other"]);
  });
});

/** What happens at a moment: messages are sent to recipients. */
const burst = fc.record({
  afterMs: fc.constantFrom(0, 1, 5, 20, 300),
  recipients: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
});
const bursts = fc.array(burst, { minLength: 1, maxLength: 8, size: "max" });
const callMs = fc.array(fc.constantFrom(0, 1, 5, 20, 700), { minLength: 1, maxLength: 5 });

it.each(lightStorages)(
  "a carrier on $name never has more calls at once than slots, and gets each message once and in order",
  async ({ name, open }) => {
    const property = fc.asyncProperty(
      bursts,
      callMs,
      fc.integer({ min: 1, max: 3 }),
      async (given, lengths, laneConcurrency) => {
        const { clock, started } = world();
        const calls = { now: 0, most: 0 };
        const line = carrier({
          async send(_, attempt) {
            calls.most = Math.max(calls.most, ++calls.now);
            await clock.sleep(lengths[line.calls.length % lengths.length] ?? 0);
            calls.now--;
            return accepted(attempt);
          },
        });
        const storage = open().connect();
        const one = await started(storage, { transports: [line], laneConcurrency });
        let count = 0;
        for (const { afterMs, recipients } of given) {
          await clock.advance(afterMs);
          const sending = recipients.map((n) =>
            one.messages.send({ to: to(n), body: `${++count}` }),
          );
          await Promise.all(sending);
        }
        await clock.advance(60_000);
        // Messages that are sent at the same time have the order in which they were committed.
        const rows = await rowsOf(storage, messages);
        const inOrder = rows.toSorted((a, b) => a.sequence - b.sequence);
        for (const n of [0, 1, 2, 3]) {
          const called = line.calls.filter(({ message }) => message.to === to(n));
          expect(
            called.map(({ message }) => message.body),
            `Recipient ${n} gets each message once, in the order of the conversation.`,
          ).toEqual(inOrder.filter((row) => row.to === to(n)).map(({ body }) => body));
        }
        expect([line.calls.length, rows.length], "No message is lost.").toEqual([count, count]);
        const waiting = rows.filter(({ status }) => status !== "sent");
        expect(waiting, "Each answer is recorded.").toEqual([]);
        expect(calls.most, "Each call has a slot.").toBeLessThanOrEqual(laneConcurrency);
        await one.stop();
      },
    );
    await fc.assert(property, { numRuns: runs(name === "memory" ? 60 : 10) });
  },
);
