import { describe, expect, it } from "vitest";
import { consumerLane } from "../../../src/events/consumers/job-orders.ts";
import { encodeLane } from "../../../src/queue/jobs/lane.ts";
import { jobsByLane } from "../../../src/queue/jobs/rows.ts";
import { held } from "../../support/engines/carrier.ts";
import { cases, isLong } from "../../support/runs.ts";
import { anna, bert, opened } from "./consumer-world.ts";
import { eventually, lightPlaces, places } from "./storages-with-table.ts";

describe.each(places)("a consumer on $name", (where) => {
  /** What does not depend on the storage. */
  const isTried = isLong || where.name === "SQLite";

  it("gets each event once, in conversation order, including earlier events", async () => {
    const { place, one, receive, noted, noting } = await opened(where);
    await receive(anna, "a1", "a2");
    await receive(bert, "b1");
    noting(one);
    await one.start();
    await receive(anna, "a3");
    await receive(bert, "b2", "b3");
    await noted("a1", "a2", "a3", "b1", "b2", "b3");
    const notes = await place.notes();
    expect(notes.filter((each) => each.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(notes.filter((each) => each.startsWith("b"))).toEqual(["b1", "b2", "b3"]);
  });

  it.runIf(isTried)("continues in another engine after a crash", async () => {
    const { place, clock, engine, one, receive, noted, noting } = await opened(where);
    let calls = 0;
    one.consume("notes", ["message.received"], () => {
      calls++;
      throw new Error("not here");
    });
    await one.start();
    await receive(anna, "1", "2");
    await eventually(clock, () => calls > 0);
    await one.stop({ deadlineMs: 0 });
    const stranger = engine(place.connect());
    await stranger.start();
    await clock.advance(60_000);
    const two = engine(place.connect());
    noting(two);
    await two.start();
    await noted("1", "2");
  });
});

describe.each(lightPlaces)("a consumer on $name", (where) => {
  /** What does not depend on the storage. */
  const isTried = isLong || where.name === "SQLite";

  it("gets events since its start, with account and mode, and no other types", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    await receive(anna, "before");
    const contexts: unknown[] = [];
    one.consume("context", ["message.received"], (event, { tx, signal, account_id, mode }) => {
      contexts.push([
        event.data.body,
        { account_id, mode },
        typeof tx === "object",
        signal.aborted,
      ]);
    });
    noting(one, () => false, "now");
    await one.start();
    await receive(anna, "after");
    await noted("after");
    await clock.settle();
    const { account_id, mode } = one.account().scope;
    expect(contexts).toEqual([["after", { account_id, mode }, where.isExact, false]]);
  });

  it.runIf(isTried)("continues after a restart without repeats", async () => {
    const { place, engine, one, receive, noted, noting } = await opened(where);
    noting(one);
    await one.start();
    await receive(anna, "1", "2");
    await noted("1", "2");
    await receive(anna, "3");
    await one.stop({ deadlineMs: 0 });
    const two = engine(place.connect());
    await two.sandbox.inbound({ from: anna, body: "4" });
    // It has a position already, so the option for new consumers has no effect.
    noting(two, () => false, "now");
    await two.start();
    await noted("1", "2", "3", "4");
    expect(await place.notes()).toEqual(["1", "2", "3", "4"]);
  });

  it.runIf(isTried)(
    "shares its work only with engines that have a consumer of its name",
    async () => {
      const { place, clock, engine, one, receive, noted, noting } = await opened(where);
      const [two, stranger] = [engine(place.connect()), engine(place.connect())];
      noting(one);
      noting(two);
      await Promise.all([one.start(), two.start(), stranger.start()]);
      const numbers = Array.from({ length: 8 }, (_, n) => `+1500555${2_000 + n}`);
      const texts = numbers.flatMap((number) => [1, 2, 3].map((nth) => `${number} ${nth}`));
      for (const text of texts) await receive(text.slice(0, 12), text);
      await noted(...texts);
      await clock.advance(60_000);
      const notes = await place.notes();
      for (const number of numbers) {
        expect(notes.filter((each) => each.startsWith(number))).toEqual(
          [1, 2, 3].map((nth) => `${number} ${nth}`),
        );
      }
    },
  );

  it.runIf(isTried)("can be started and stopped while the engine runs", async () => {
    const { place, clock, one, receive, noted, noting } = await opened(where);
    await one.start();
    const consumer = noting(one);
    await receive(anna, "1");
    await noted("1");
    expect(() => noting(one)).toThrow(/already/);
    await consumer.stop();
    await receive(anna, "2");
    await clock.advance(60_000);
    expect(await place.notes()).toEqual(["1"]);
    noting(one);
    await noted("1", "2");
  });

  it("finishes its running call on stop and is not called again", async () => {
    const { place, clock, one, receive, noted, noting } = await opened(where);
    await one.start();
    const gate = held<undefined>();
    let calls = 0;
    const consumer = one.consume(
      "notes",
      ["message.received"],
      async ({ data: { body } }, { tx }) => {
        calls++;
        await gate.promise;
        await place.note(tx, body);
      },
    );
    await clock.settle();
    await receive(anna, "1", "2");
    await eventually(clock, () => calls === 1, 1);
    let isStopped = false;
    const stopping = consumer.stop().then(() => (isStopped = true));
    await clock.settle();
    expect(isStopped).toBe(false);
    gate.answer(undefined);
    await stopping;
    expect([await place.notes(), calls]).toEqual([["1"], 1]);
    noting(one);
    await noted("1", "2");
  });

  it.runIf(isTried)("can call commands in a call that stop waits for", async () => {
    const { clock, engine, log, one, place, receive } = await opened(where);
    const gate = held<undefined>();
    let calls = 0;
    one.consume("replies", ["message.received"], async ({ data: { contact } }, { tx }) => {
      calls++;
      await gate.promise;
      await one.messages.send({ to: contact.id, body: "reply" }, { tx });
    });
    await one.start();
    await clock.settle();
    await receive(anna, "1");
    await eventually(clock, () => calls === 1, 1);
    const stopped = one.stop();
    await clock.settle();
    gate.answer(undefined);
    await stopped;
    const { data } = await engine(place.connect()).messages.list({ direction: "outbound" });
    expect(data).toHaveLength(1);
    expect(log).toEqual([]);
  });

  it("whose call a stop without deadline interrupts is called again after the next start", async () => {
    const { place, clock, engine, one, receive, noting } = await opened(where);
    let aborted: AbortSignal | undefined;
    one.consume("notes", ["message.received"], async (_event, { signal }) => {
      aborted = signal;
      await new Promise(() => {});
    });
    await one.start();
    await receive(anna, "1", "2");
    await eventually(clock, () => aborted !== undefined, 1);
    let isStopped = false;
    const stopping = one.stop({ deadlineMs: 100 }).then(() => (isStopped = true));
    await eventually(clock, () => isStopped, 50);
    await stopping;
    expect(aborted?.aborted).toBe(true);
    const two = engine(place.connect());
    noting(two);
    const begun = clock.now();
    await two.start();
    await eventually(clock, async () => (await place.notes()).length === 2, 10);
    // An interrupted call is no failure, so there is no retry delay.
    expect(clock.now() - begun).toBeLessThan(1_000);
  });

  it("rejects invalid names, types, handlers and start positions", async () => {
    const { one } = await opened(where);
    const consume =
      (...given: unknown[]) =>
      (): unknown =>
        Reflect.apply(one.consume.bind(one), one, given);
    const nothing = (): void => {};
    expect(consume("", ["message.received"], nothing)).toThrow(/name: expected 1 to 100 letters/);
    expect(consume("a b", ["message.received"], nothing)).toThrow(/name: expected .*, got "a b"/);
    expect(consume("x".repeat(101), ["message.received"], nothing)).toThrow(/name: expected/);
    expect(consume("x", [], nothing)).toThrow(/types: expected a list/);
    expect(consume("x", ["message.eaten"], nothing)).toThrow(
      /types\.0: expected an event type, got "message.eaten"\. Did you mean "message.sent"\?/,
    );
    expect(consume("x", ["message.received"], "f")).toThrow(
      /handler: expected a function, got a string/,
    );
    expect(consume("x", ["message.received"], nothing, { form: "beginning" })).toThrow(
      /form: unknown option\. Did you mean "from"\?/,
    );
    expect(consume("x", ["message.received"], nothing, { from: "1970" })).toThrow(
      /from: expected "now" or "beginning"/,
    );
  });
});

// How far a consumer reads ahead is the same on each storage.
describe.each(cases(places, ({ name }) => name === "memory"))("a consumer on $name", (where) => {
  it("reads ahead a few hundred conversations at most", async () => {
    const { place, clock, engine, noted } = await opened(where);
    const storage = place.connect();
    const one = engine(storage);
    const texts = Array.from({ length: 210 }, (_, n) => `+1500555${3_000 + n}`);
    await Promise.all(texts.map((from) => one.sandbox.inbound({ from, body: from })));
    const gate = held<undefined>();
    one.consume(
      "notes",
      ["message.received"],
      async ({ data: { body } }, { tx }) => {
        await gate.promise;
        await place.note(tx, body);
      },
      { from: "beginning" },
    );
    await one.start();
    const range = {
      index: jobsByLane,
      prefix: ["work", encodeLane(consumerLane("notes"))],
      order: "ascending",
      limit: 1_000,
    } as const;
    const jobs = async () => (await storage.reader.range(range)).length;
    await eventually(clock, async () => (await jobs()) > 0);
    await clock.advance(5_000);
    expect(await jobs()).toBeLessThan(200);
    gate.answer(undefined);
    await noted(...texts);
  });

  it("gets the events of other conversations, however many conversations fail", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    noting(one, (body) => body === "bad");
    await one.start();
    const senders = Array.from({ length: 250 }, (_, n) => `+1500555${3_000 + n}`);
    await Promise.all(senders.map((from) => one.sandbox.inbound({ from, body: "bad" })));
    await clock.advance(10_000);
    await receive(anna, "good");
    await noted("good");
  });

  it("gets new events after the clock was set back, however many conversations wait", async () => {
    const { place, clock, one, receive } = await opened(where);
    const texts = Array.from({ length: 300 }, (_, n) => `+1500555${3_000 + n}`);
    await Promise.all(texts.map((from) => one.sandbox.inbound({ from, body: from })));
    const gate = held<undefined>();
    one.consume(
      "notes",
      ["message.received"],
      async ({ data: { body } }, { tx }) => {
        // The end of the first call makes room for more conversations.
        if (body !== texts[0]) await gate.promise;
        await place.note(tx, body);
      },
      { from: "beginning" },
    );
    await one.start();
    await clock.advance(1_000);
    clock.step(-3_600_000);
    gate.answer(undefined);
    await clock.advance(1_000);
    await receive(anna, "new");
    await clock.advance(10_000);
    expect(await place.notes()).toContain("new");
  });

  it("parks nothing in an outage if it is stopped meanwhile, and then handles all events", async () => {
    const { clock, one, receive, noted, noting } = await opened(where);
    const consumer = noting(one, () => true);
    await one.start();
    await receive(anna, "before");
    await clock.advance(60_000);
    await consumer.stop();
    await receive(bert, "meanwhile");
    await clock.advance(12 * 3_600_000);
    const again = noting(one);
    await noted("before", "meanwhile");
    expect(await again.parked()).toEqual([]);
  });
});
