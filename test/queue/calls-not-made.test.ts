import { describe, expect, it, onTestFinished } from "vitest";
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/index.ts";
import { maxAttempts } from "../../src/messages/routes/route-rules.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { accepted, busy, carrier, held, lost } from "../support/engines/carrier.ts";
import { stopped, world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { withGroups } from "../support/storage/groups.ts";
import { lightStorages } from "../support/storage/storages.ts";

const hello = { to: "+15005550001", body: "Hello" };

type Answer = "answered" | "unanswered";

/** The storage of a process that stalls after its next hand-over has been stored. */
function stallable(storage: StoragePort): {
  readonly storage: StoragePort;
  /**
   * Lets the process stall, and get the answer to the commit after that, or an error. Returns the
   * function that ends the stall.
   */
  stall(answer?: Answer): () => void;
} {
  let next = Promise.resolve();
  let nextAnswer: Answer = "answered";
  let isOver = next;
  const { reader } = storage;
  const groups = withGroups(storage, {
    read: (lookups, group) => isOver.then(() => group.read(lookups)),
    async commit(writes, group) {
      await isOver;
      await group.commit(writes);
      const isStalled = writes.some(handsOver);
      if (isStalled) isOver = next;
      const answer = nextAnswer;
      await isOver;
      if (isStalled && answer === "unanswered") {
        throw new TidingsError("storage_unavailable", "The connection was lost.");
      }
    },
  });
  return {
    storage: over(groups, {
      reader: over(reader, {
        get: (lookups) => isOver.then(() => reader.get(lookups)),
        range: (range) => isOver.then(() => reader.range(range)),
      }),
    }),
    stall(answer = "answered") {
      const { promise, resolve } = Promise.withResolvers<void>();
      next = promise;
      nextAnswer = answer;
      const resume = (): void => {
        next = Promise.resolve();
        nextAnswer = "answered";
        resolve();
      };
      // The engine can stop only after that.
      onTestFinished(resume);
      return resume;
    },
  };
}

const handsOver = ({ kind, collection }: Write): boolean =>
  kind === "insert" && collection.name === "message_attempts";

/** The statuses and the attempts in a message's timeline. */
async function told(engine: MessagingEngine, id: string) {
  const { data } = await engine.messages.timeline(id);
  return {
    statuses: data.flatMap((entry) => (entry.type === "transition" ? [entry.to] : [])),
    attempts: data.flatMap((entry) =>
      entry.type === "attempt" ? [[entry.number, entry.transport, entry.outcome]] : [],
    ),
  };
}

describe.each(lightStorages)("an attempt on $name with which no carrier was called", ({ open }) => {
  it("because its engine stops does not count", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const { id } = await engine(ground.connect()).messages.send(hello);
    const line = carrier();
    for (let n = 0; n < 2; n++) {
      const { storage, stall } = stallable(ground.connect());
      const one = engine(storage, { transports: [line] });
      const resume = stall();
      await one.start();
      await clock.settle();
      const stop = one.stop({ deadlineMs: 1_000 });
      await clock.advance(1_000);
      resume();
      await clock.settle();
      await stop;
    }
    expect(line.calls).toEqual([]);
    const last = await started(ground.connect(), { transports: [line] });
    await clock.settle();
    expect(line.calls.map(({ attempt }) => attempt.number)).toEqual([1]);
    expect(await told(last, id)).toEqual({
      statuses: [
        "queued",
        ...Array.from({ length: 2 }, () => ["sending", "queued"]),
        "sending",
        "sent",
      ].flat(),
      attempts: [[1, "sandbox", "accepted"]],
    });
  });

  it("because its engine stalled is made again at once, over the same transport", async () => {
    const { clock, started } = world();
    const { storage, stall } = stallable(open().connect());
    const line = carrier();
    const other = carrier({ name: "other" });
    const one = await started(storage, {
      transports: [line, other],
      routes: [{ transports: ["sandbox", "other"] }],
    });
    const resume = stall();
    const sending = one.messages.send(hello);
    await clock.advance(40_000);
    resume();
    const { id } = await sending;
    await clock.settle();
    expect([line.calls.length, other.calls.length]).toEqual([1, 0]);
    expect(await told(one, id)).toEqual({
      statuses: ["queued", "sending", "queued", "sending", "sent"],
      attempts: [[1, "sandbox", "accepted"]],
    });
  });

  it("leaves the last of the allowed attempts to the next one", async () => {
    const { clock, started } = world();
    const ground = open();
    const { storage, stall } = stallable(ground.connect());
    const line = carrier({
      send: (_, attempt) => (attempt.number < maxAttempts ? busy() : accepted(attempt)),
    });
    const one = await started(storage, { transports: [line] });
    const { id } = await one.messages.send(hello);
    await clock.advance(200_000);
    expect(line.calls).toHaveLength(maxAttempts - 1);
    for (let n = 0; n < 3; n++) {
      const resume = stall();
      // The last attempt is due 10 minutes after the one before.
      await clock.advance(n === 0 ? 600_000 : 40_000);
      resume();
      await clock.settle();
    }
    const numbers = Array.from({ length: maxAttempts }, (_, i) => i + 1);
    expect(line.calls.map(({ attempt }) => attempt.number)).toEqual(numbers);
    const { attempts } = await told(one, id);
    expect(attempts.map(([number]) => number)).toEqual(numbers);
    expect((await one.messages.get(id)).status).toBe("sent");
  });

  it("counts if a receipt of an earlier attempt came meanwhile, and the message goes on after it", async () => {
    const { clock, started } = world();
    const ground = open();
    const { storage, stall } = stallable(ground.connect());
    const line = carrier({ send: () => lost });
    const other = carrier({ name: "other" });
    const options = {
      transports: [line, other],
      routes: [{ transports: ["sandbox", "other"], fallBackAfter: ["ambiguous", "undelivered"] }],
    } as const;
    const one = await started(storage, options);
    const { id } = await one.messages.send(hello);
    const resume = stall();
    await clock.settle();
    await started(ground.connect(), options);
    await line.report("sent", { by: "both" });
    await clock.advance(40_000);
    resume();
    await clock.settle();
    expect(other.calls).toEqual([]);
    expect((await one.messages.get(id)).status).toBe("sent");
    await line.report("undelivered", { by: "both" });
    await clock.advance(10_000);
    expect((await told(one, id)).attempts).toEqual([
      [1, "sandbox", "accepted"],
      [2, "other", "rejected"],
      [3, "other", "accepted"],
    ]);
  });

  it("is not made under a lease that ends during the call", async () => {
    const { clock, engine } = world();
    const ground = open();
    const { storage, stall } = stallable(ground.connect());
    const answer = held<void>();
    const first = carrier({
      send: async (_, attempt) => {
        if (first.calls.length === 1) await answer.promise;
        return accepted(attempt);
      },
    });
    const one = engine(storage, { transports: [first] });
    const { id: before } = await one.messages.send(hello);
    const { id } = await one.messages.send(hello);
    await one.start();
    await clock.advance(24_000);
    answer.answer();
    const resume = stall();
    // 36 s of the lease are left at the hand-over of the second message. That is too long for the
    // hand-over to extend it, and too short for a call of 25 s after this.
    await clock.advance(12_000);
    resume();
    await clock.settle();
    expect(first.calls.map(({ message }) => message.message_id)).toEqual([before, id]);
    expect(await told(one, id)).toMatchObject({
      statuses: ["queued", "sending", "queued", "sending", "sent"],
    });
  });

  it("is recorded as refused if another engine has sent the message meanwhile", async () => {
    const { clock, started } = world();
    const ground = open();
    const { storage, stall } = stallable(ground.connect());
    const first = carrier();
    const second = carrier({ lookup: () => ({ outcome: "not_sent" }) });
    const one = await started(storage, { transports: [first] });
    await clock.advance(7_777);
    const resume = stall();
    const sending = one.messages.send(hello);
    await clock.settle();
    const two = await started(ground.connect(), { transports: [second] });
    await clock.advance(600_000);
    expect(second.calls).toHaveLength(1);
    resume();
    const { id } = await sending;
    await clock.advance(60_000);
    expect([first.calls.length, second.calls.length]).toEqual([0, 1]);
    expect((await two.messages.get(id)).status).toBe("sent");
    expect((await told(two, id)).attempts).toEqual([
      [1, "sandbox", "rejected"],
      [2, "sandbox", "accepted"],
    ]);
    await stopped(one, clock);
  });

  it.each(["accepted", "found", "behind another"] as const)(
    "is recorded as refused if its commit was not answered and another engine counted it (the message was %s)",
    async (how) => {
      const { clock, engine } = world();
      const ground = open();
      const { storage, stall } = stallable(ground.connect());
      const first = carrier({
        send: async (_, attempt) => {
          // The stall begins with the hand-over of the message behind this one.
          if (attempt.number === 1 && how === "behind another") resume = stall("unanswered");
          return accepted(attempt);
        },
      });
      let resume = (): void => {};
      const second = carrier();
      const one = engine(storage, { transports: [first] });
      const two = engine(ground.connect(), { transports: [second] });
      if (how === "behind another") await two.messages.send(hello);
      if (how !== "behind another") resume = stall("unanswered");
      if (how === "accepted") {
        await one.start();
        void one.messages.send(hello).catch(() => {});
      } else {
        await two.messages.send(hello);
        await one.start();
      }
      await clock.settle();
      await two.start();
      await clock.advance(120_000);
      const [last] = (await two.messages.list()).data;
      if (last === undefined) throw new Error("the message was not stored");
      expect(last).toMatchObject({ status: "ambiguous", error: { code: "answer_lost" } });
      resume();
      await clock.advance(10_000);
      expect((await told(two, last.id)).attempts).toEqual([
        [1, "sandbox", "rejected"],
        [2, "sandbox", "accepted"],
      ]);
      expect((await two.messages.get(last.id)).status).toBe("sent");
      expect([first.calls.length + second.calls.length]).toEqual([
        how === "behind another" ? 2 : 1,
      ]);
      await stopped(one, clock);
    },
  );
});
