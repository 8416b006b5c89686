/** A message that is due at once may be handed over in the transaction that accepts it. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { TidingsError } from "../../src/kernel/errors.ts";
import { attempts } from "../../src/messages/rows.ts";
import type { Clock, SendAnswer, StoragePort } from "../../src/ports/index.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { beforeCommits, writesTo } from "../support/storage/groups.ts";
import { embeddedStorages, lightStorages } from "../support/storage/storages.ts";

const to = (n: number): string => `+1500555${1_000 + n}`;

/** A storage in which a search for due jobs takes `readMs`. Set it at any time. */
function slowSearches(storage: StoragePort, clock: Clock) {
  const delay = { readMs: 0, isSearching: false };
  const reader = over(storage.reader, {
    async range(range) {
      if (range.index.collection !== jobs) return storage.reader.range(range);
      delay.isSearching = true;
      await clock.sleep(delay.readMs);
      return storage.reader.range(range);
    },
  });
  return { delay, storage: over(storage, { reader }) };
}

describe.each(lightStorages)("a message that is due at once, on $name", ({ open }) => {
  it("reaches no carrier before its attempt is committed, and takes no room if that fails", async () => {
    const { clock, started } = world();
    const ground = open();
    const storage = ground.connect();
    /** Whether a carrier may have been called, at each commit of an attempt. */
    const calledBefore: number[] = [];
    let failures = 1;
    const line = carrier();
    const flaky = beforeCommits(storage, async (writes) => {
      if (!writes.some(writesTo(attempts, "insert"))) return;
      await Promise.resolve();
      calledBefore.push(line.calls.length);
      if (failures-- > 0) throw new TidingsError("storage_unavailable", "The disk is gone.");
    });
    const one = await started(flaky, { transports: [line], laneConcurrency: 1, concurrency: 1 });
    await clock.advance(7_777);
    await one.messages.send({ to: to(1), body: "first" }).catch(() => {});
    await clock.settle();
    await one.messages.send({ to: to(2), body: "second" });
    // A lease that was committed before the failure has to expire.
    await clock.advance(120_000);
    expect(line.calls.map(({ message }) => message.body)).toContain("second");
    // Each call follows the commit of its own attempt.
    expect(calledBefore).toEqual([0, ...line.calls.keys()]);
  });

  it("is handed over after those that wait already, while these are still searched for", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const line = carrier({ send: (_, attempt) => clock.sleep(5).then(() => accepted(attempt)) });
    const other = engine(ground.connect());
    await other.messages.send({ to: to(1), body: "waits" });
    // A search may find both. Jobs that are due at the same time have no order.
    await clock.advance(1);
    const storage = ground.connect();
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        for (let turn = 0; turn < 10; turn++) await setImmediate();
        return rows;
      },
    });
    const one = await started(over(storage, { reader }), {
      transports: [line],
      laneConcurrency: 1,
    });
    await one.messages.send({ to: to(2), body: "last" });
    await clock.advance(10_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["waits", "last"]);
  });

  it.each([
    { when: "during a search", startsIn: 0 },
    { when: "while the engine checks whether anything is due", startsIn: 2_500 },
  ])("is handed over $when, if there is room beside those that wait", async ({ startsIn }) => {
    const { clock, started } = world();
    const line = carrier({ send: (_, attempt) => clock.sleep(500).then(() => accepted(attempt)) });
    const { delay, storage } = slowSearches(open().connect(), clock);
    const one = await started(storage, { transports: [line], laneConcurrency: 2 });
    await clock.advance(7_777);
    delay.readMs = 2_000;
    await clock.advance(startsIn);
    const send = (n: number): Promise<unknown> => one.messages.send({ to: to(n), body: `${n}` });
    const called = (): readonly (string | null)[] => line.calls.map(({ message }) => message.body);
    // There is no room for the third, so the engine searches for it.
    for (const n of [1, 2, 3]) await send(n);
    await clock.advance(600);
    // Now there are two slots, and the third message needs one of them.
    for (const n of [4, 5]) await send(n);
    await clock.settle();
    expect(called()).toEqual(["1", "2", "4"]);
    await clock.advance(20_000);
    expect(called()).toEqual(["1", "2", "4", "3", "5"]);
  });

  it("is handed over during a search, though another account waits for its own slots", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: (_, attempt) => clock.sleep(60_000).then(() => accepted(attempt)),
    });
    const { delay, storage } = slowSearches(open().connect(), clock);
    const one = await started(storage, { transports: [line], laneConcurrency: 1 });
    const { account } = await one.accounts.create({ name: "Busy" });
    const busy = one.account(account.id);
    await busy.senders.create({ address: "+17770001000", channels: ["sms"], transport: line.name });
    await clock.advance(7_777);
    for (const n of [1, 2]) await busy.messages.send({ to: to(n), body: `busy ${n}` });
    await clock.advance(7_777);
    delay.readMs = 2_000;
    await one.messages.send({ to: to(3), body: "at once" });
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(["busy 1", "at once"]);
    await clock.advance(300_000);
    expect(line.calls).toHaveLength(3);
  });

  it.each([
    { slot: "the engine's only slot", limits: { concurrency: 1 } },
    { slot: "the only slot of its account", limits: { laneConcurrency: 1 } },
  ])("is handed over after one that waits for $slot", async ({ limits }) => {
    const { clock, started } = world();
    const line = carrier({ send: (_, attempt) => clock.sleep(500).then(() => accepted(attempt)) });
    const { delay, storage } = slowSearches(open().connect(), clock);
    const one = await started(storage, { transports: [line], ...limits });
    await clock.advance(7_777);
    delay.readMs = 5;
    const send = (n: number): Promise<unknown> => one.messages.send({ to: to(n), body: `${n}` });
    for (const n of [1, 2]) await send(n);
    // The slot is free, and the engine searches for the second message.
    await clock.advance(500);
    await send(3);
    await clock.advance(10_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["1", "2", "3"]);
  });

  it("takes the turn of its class", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: (_, attempt) => clock.sleep(1_000).then(() => accepted(attempt)),
    });
    const one = await started(open().connect(), { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    // Each finds the engine idle. The eighth turn belongs to the lower classes.
    for (let n = 1; n <= 7; n++) {
      await one.messages.send({ to: to(n), body: `single ${n}` });
      await clock.advance(n < 7 ? 1_500 : 500);
    }
    await one.messages.send({ to: to(8), body: "single 8" });
    await one.messages.batch({ messages: [{ to: to(9), body: "mailing" }] });
    await clock.advance(5_000);
    const order = line.calls.map(({ message }) => message.body);
    expect(order.slice(6)).toEqual(["single 7", "mailing", "single 8"]);
  });

  it.each([
    { turn: 2, sequence: ["single 1", "single 2", "mailing"] },
    // Every eighth turn belongs to the lower classes.
    { turn: 8, sequence: ["single 7", "mailing", "single 8"] },
  ])("is handed over before a waiting mailing unless it has the turn: $turn", async (expected) => {
    const { turn, sequence } = expected;
    const { clock, started } = world();
    const line = carrier({
      send: (_, attempt) => clock.sleep(1_000).then(() => accepted(attempt)),
    });
    const { delay, storage } = slowSearches(open().connect(), clock);
    const one = await started(storage, { transports: [line], laneConcurrency: 1 });
    await clock.advance(7_777);
    for (let n = 1; n < turn; n++) {
      await one.messages.send({ to: to(n), body: `single ${n}` });
      await clock.advance(n < turn - 1 ? 1_500 : 500);
    }
    await one.messages.batch({ messages: [{ to: to(9), body: "mailing" }] });
    await clock.advance(400);
    delay.readMs = 2_000;
    // The slot is free, and the engine searches for the mailing.
    await clock.advance(600);
    await one.messages.send({ to: to(turn), body: `single ${turn}` });
    await clock.advance(20_000);
    expect(line.calls.map(({ message }) => message.body).slice(turn - 2)).toEqual(sequence);
  });

  it.each([
    { free: 2, atOnce: ["single 8"], later: ["mailing", "single 9"] },
    { free: 1, atOnce: [], later: ["mailing", "single 8", "single 9"] },
  ])("leaves the next pick and a slot to a waiting mailing, with $free free", async (expected) => {
    const { free, atOnce, later } = expected;
    const { clock, started } = world();
    const line = carrier({
      async send({ body }, attempt) {
        await clock.sleep(body === "single 6" && free === 1 ? 60_000 : 1_000);
        return accepted(attempt);
      },
    });
    const { delay, storage } = slowSearches(open().connect(), clock);
    const one = await started(storage, { transports: [line], laneConcurrency: 2 });
    await clock.advance(7_777);
    const send = (n: number): Promise<unknown> =>
      one.messages.send({ to: to(n), body: `single ${n}` });
    for (let n = 1; n <= 5; n++) {
      await send(n);
      await clock.advance(1_500);
    }
    for (const n of [6, 7]) await send(n);
    // The eighth turn belongs to the lower classes.
    await one.messages.batch({ messages: [{ to: to(20), body: "mailing" }] });
    await clock.advance(500);
    delay.readMs = 2_000;
    await clock.advance(600);
    // The engine searches for the mailing.
    const called = (): readonly (string | null)[] =>
      line.calls.slice(7).map(({ message }) => message.body);
    for (const n of [8, 9]) await send(n);
    await clock.settle();
    expect(called()).toEqual(atOnce);
    await clock.advance(40_000);
    expect(called()).toEqual([...atOnce, ...later]);
  });

  it("reaches no carrier if its recipient opts out before the commit", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const line = carrier();
    const other = engine(ground.connect());
    const { id } = await other.contacts.create({ phone: to(1) });
    let optOut = async (): Promise<void> => {};
    const overtaken = beforeCommits(ground.connect(), (writes) =>
      writes.some(writesTo(attempts)) ? optOut() : Promise.resolve(),
    );
    const one = await started(overtaken, { transports: [line] });
    // The next message writes nothing to the contact.
    await one.messages.send({ to: to(1), body: "first" });
    await clock.advance(7_777);
    let optOuts = 0;
    optOut = async () => {
      if (optOuts++ > 0) return;
      await other.contacts.setConsent(id, "text", { status: "opted_out" });
    };
    const sent = one.messages.send({ to: to(1), body: "Hi" });
    await expect(sent).rejects.toMatchObject({ code: "recipient_opted_out" });
    await clock.advance(60_000);
    expect([optOuts, line.calls.length]).toEqual([1, 1]);
  });

  it("begins at once, however many jobs of other engines' pools are due", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const agents = { model: { respond: () => ({ text: "Yes." }) } };
    // Only this engine runs the turns of agents, and it never starts.
    await engine(ground.connect(), { agents }).agents.create({ name: "Ada", channels: ["sms"] });
    const line = carrier();
    const { delay, storage } = slowSearches(ground.connect(), clock);
    const one = await started(storage, { transports: [line] });
    await clock.advance(7_777);
    const writing = Array.from({ length: 260 }, (_, n) =>
      one.sandbox.inbound({ from: to(n), body: "Are you open?" }),
    );
    await Promise.all(writing);
    await clock.advance(7_777);
    delay.readMs = 2_000;
    await one.messages.send({ to: to(500), body: "at once" });
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(["at once"]);
  });

  it("is not handed over by a search that goes on when the engine stops", async () => {
    const { clock, engine, started } = world();
    const ground = open();
    const line = carrier();
    const { delay, storage } = slowSearches(ground.connect(), clock);
    const one = await started(storage, { transports: [line] });
    await clock.advance(7_777);
    delay.readMs = 2_000;
    delay.isSearching = false;
    const other = engine(ground.connect());
    const { id } = await other.messages.send({ to: to(1), body: "Hi" });
    await clock.advanceUntil(() => delay.isSearching);
    const stopping = one.stop();
    await clock.advance(60_000);
    await stopping;
    expect(line.calls).toEqual([]);
    expect((await other.messages.get(id)).status).toBe("queued");
  });

  /** Stops an engine while the commit of its message is held, which ends after `heldMs`. */
  async function stopDuringCommit(heldMs: number) {
    const { clock, engine, started } = world();
    const line = carrier();
    const ground = open();
    const commits = { held: Promise.resolve() };
    const slow = beforeCommits(ground.connect(), () => commits.held);
    const one = await started(slow, { transports: [line] });
    await clock.advance(7_777);
    const { promise, resolve } = Promise.withResolvers<void>();
    commits.held = promise;
    const sending = one.messages.send({ to: to(1), body: "Hi" });
    await clock.settle();
    const stopping = one.stop({ deadlineMs: 5_000 });
    await clock.advance(heldMs);
    resolve();
    await clock.settle();
    const { id } = await sending;
    await stopping;
    const other = engine(ground.connect(), { transports: [line] });
    return { clock, line, id, other };
  }

  it("is sent if it began before the engine stopped", async () => {
    const { line, id, other } = await stopDuringCommit(0);
    expect(line.calls).toHaveLength(1);
    expect((await other.messages.get(id)).status).toBe("sent");
  });

  it("is sent by another engine if the deadline of the stop came before the call", async () => {
    const { clock, line, id, other } = await stopDuringCommit(5_000);
    expect(line.calls).toEqual([]);
    await other.start();
    await clock.advance(60_000);
    expect((await other.messages.get(id)).status).toBe("sent");
    expect(line.calls).toHaveLength(1);
  });
});

// On PostgreSQL, the run that has nothing to do ends before the job can begin again.
it.each(embeddedStorages)(
  "a stop waits for a message that began at once, though another run of its job ends, on $name",
  async ({ open }) => {
    const { clock, engine, started } = world();
    const ground = open();
    const { promise, answer } = held<SendAnswer>();
    const line = carrier({ send: () => promise });
    const storage = ground.connect();
    let sending: Promise<unknown> | undefined;
    const sendInNextGroup = async (): Promise<void> => {
      // While these commands run, the engine leases the job of the canceled message.
      for (let n = 0; n < 40; n++) void one.contacts.create({ phone: to(100 + n) });
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      await one.messages.send({ to: to(1), body: "Hi" });
    };
    const reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        const isDue = range.index.collection === jobs && rows.some(({ kind }) => kind === "send");
        if (isDue) sending ??= sendInNextGroup();
        return rows;
      },
    });
    const one = await started(over(storage, { reader }), { transports: [line] });
    await clock.advance(7_777);
    // Its job is due and has nothing to send.
    const other = engine(ground.connect());
    const { id } = await other.messages.send({ to: to(1), body: "canceled" });
    await other.messages.cancel(id);
    await clock.advanceUntil(() => line.calls.length > 0);
    let hasStopped = false;
    const stopping = one.stop({ deadlineMs: 20_000 }).finally(() => {
      hasStopped = true;
    });
    await clock.advance(1_000);
    expect(hasStopped).toBe(false);
    answer(accepted({ attempt_id: "att_1" }));
    await clock.advance(1_000);
    await Promise.all([stopping, sending]);
    const { data } = await other.messages.list();
    expect(data.find(({ body }) => body === "Hi")?.status).toBe("sent");
  },
);
