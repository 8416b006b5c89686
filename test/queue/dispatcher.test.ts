import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { schema } from "../../src/modules.ts";
import type { Range } from "../../src/ports/storage.ts";
import { jobByName, jobs, jobsByDueTime, jobsByLane } from "../../src/queue/jobs/rows.ts";
import { accepted, busy, carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { cases } from "../support/runs.ts";
import { lightStorages, storages } from "../support/storage/storages.ts";
import { job } from "./job-row.ts";

describe.each(lightStorages)("dispatch on $name", ({ open }) => {
  it("leaves jobs of a kind that it does not know to a newer engine", async () => {
    const { clock, started, log } = world();
    const ground = open();
    const line = carrier();
    const one = await started(ground.connect(), { transports: [line] });
    const storage = ground.connect();
    await storage.open(schema);
    const known = job("a", "sandbox", clock.now() - 1_000);
    const row = { ...known, kind: "newer", lane: "newer/quick", version: 1 };
    await storage.begin().commit([{ kind: "insert", collection: jobs, row }]);
    await one.messages.send({ to: "+15005550001", body: "mine" });
    await clock.advance(60_000);
    expect(line.calls).toHaveLength(1);
    expect(log.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
    const [left] = await storage.reader.range({
      index: jobByName,
      prefix: ["newer"],
      order: "ascending",
      limit: 1,
    });
    expect(left).toEqual(row);
  });

  it("keeps a retry's time while another destination is stuck with a backlog", async () => {
    const { clock, engine } = world();
    const line = carrier({
      send: ({ body }, attempt) =>
        body === "stuck"
          ? new Promise(() => {})
          : attempt.number === 1
            ? busy()
            : accepted(attempt),
    });
    const one = engine(open().connect(), { transports: [line], laneConcurrency: 1 });
    const [stuck, other] = await Promise.all(
      ["stuck", "other"].map((name) => one.accounts.create({ name })),
    );
    await one.start();
    for (const to of ["+15005551001", "+15005551002"]) {
      await one.account(stuck?.account.id).messages.send({ to, body: "stuck" });
    }
    await clock.settle();
    const { id } = await one
      .account(other?.account.id)
      .messages.send({ to: "+15005550001", body: "busy" });
    const begun = clock.now();
    await clock.advance(10_000);
    const calls = line.calls.filter(({ message }) => message.message_id === id);
    expect(calls.map(({ at }) => at - begun)).toEqual([0, 1_000]);
  });

  it("keeps the order of a conversation: later messages wait for an earlier one's retry", async () => {
    const { clock, started } = world();
    const line = carrier({
      send: ({ body }, attempt) =>
        body === "1" && attempt.number <= 3 ? busy() : accepted(attempt),
    });
    const one = await started(open().connect(), { transports: [line] });
    for (const body of ["1", "2", "3"]) await one.messages.send({ to: "+15005550001", body });
    await one.messages.send({ to: "+15005550002", body: "elsewhere" });
    const bodiesTo = (to: string): readonly string[] =>
      line.calls.flatMap(({ message }) => (message.to === to ? [message.body] : []));
    await clock.advance(5_999);
    expect(bodiesTo("+15005550001")).toEqual(["1", "1"]);
    expect(bodiesTo("+15005550002")).toEqual(["elsewhere"]);
    await clock.advance(60_000);
    expect(bodiesTo("+15005550001")).toEqual(["1", "1", "1", "1", "2", "3"]);
  });

  it("does not block a conversation for a scheduled or ambiguous message", async () => {
    const { clock, started } = world();
    const line = carrier({
      send({ body }, attempt) {
        if (body === "lost") throw new Error("gone");
        return accepted(attempt);
      },
    });
    const one = await started(open().connect(), { transports: [line] });
    const to = "+15005550001";
    await one.messages.send({
      to,
      body: "scheduled",
      send_at: new Date(clock.now() + 60_000).toISOString(),
    });
    await one.messages.send({ to, body: "lost" });
    await one.messages.send({ to, body: "now" });
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(["lost", "now"]);
    await clock.advance(60_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["lost", "now", "scheduled"]);
  });

  it("starts at once after a local commit, without polling", async () => {
    const { clock, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    await clock.advance(7_777);
    await one.messages.send({ to: "+15005550001", body: "Hi" });
    await clock.settle();
    expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
  });

  const moments = [
    ["the search for due jobs", (range: Range) => range.until !== undefined],
    ["the search for the next due time", (range: Range) => range.limit === 1],
  ] as const;
  it.each(
    moments.flatMap(([when, isThat]) => [0, 2_000].map((wait) => [when, wait, isThat] as const)),
  )("loses no message that is committed during %s and due after %i ms", async (_, wait, isThat) => {
    const { clock, started } = world();
    const storage = open().connect();
    const during: { work?: () => Promise<unknown> } = {};
    const reader: typeof storage.reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        const { work } = during;
        if (work !== undefined && range.index === jobsByDueTime && isThat(range)) {
          delete during.work;
          await work();
        }
        return rows;
      },
    });
    const line = carrier();
    const one = await started(over(storage, { reader }), { transports: [line] });
    await clock.advance(7_777);
    const begun = clock.now();
    const later = wait === 0 ? {} : { send_at: new Date(begun + wait).toISOString() };
    during.work = () =>
      one.messages.send({ to: "+15005550001", body: "committed meanwhile", ...later });
    // A scheduled message makes the dispatcher search, now and when it is due.
    const soon = new Date(begun + 1).toISOString();
    await one.messages.send({ to: "+15005550003", body: "first", send_at: soon });
    await clock.advance(4_000);
    expect(
      line.calls
        .map(({ message, at }) => `${message.body}: sent after ${at - begun} ms`)
        .toSorted(),
      "a message is sent in the millisecond in which it is due, whenever it was committed",
    ).toEqual([`committed meanwhile: sent after ${wait} ms`, "first: sent after 1 ms"]);
  });

  it("releases a scheduled message exactly on time, also after an edit to an earlier time", async () => {
    const { clock, started } = world();
    const line = carrier();
    const one = await started(open().connect(), { transports: [line] });
    const begun = clock.now();
    const at = (ms: number): string => new Date(begun + ms).toISOString();
    const { id } = await one.messages.send({
      to: "+15005550001",
      body: "sooner",
      send_at: at(3_600_000),
    });
    await one.messages.send({ to: "+15005550002", body: "later", send_at: at(7_001) });
    const { id: postponed } = await one.messages.send({
      to: "+15005550003",
      body: "postponed",
      send_at: at(1_003),
    });
    await one.messages.edit(id, { send_at: at(2_002) });
    await one.messages.edit(postponed, { send_at: at(9_009) });
    await clock.advance(20_000);
    expect(line.calls.map(({ message, at: when }) => [message.body, when - begun])).toEqual([
      ["sooner", 2_002],
      ["later", 7_001],
      ["postponed", 9_009],
    ]);
  });
});

// The choice among many jobs is the same on each storage.
describe.each(cases(storages, ({ name }) => name === "memory"))("dispatch on $name", ({ open }) => {
  it("limits concurrent jobs in total and per destination", async () => {
    const { clock, engine } = world();
    let [running, most] = [0, 0];
    const perAccount = new Map<string, number>();
    let mostOfOne = 0;
    const line = carrier({
      async send({ account_id }, attempt) {
        most = Math.max(most, ++running);
        const own = (perAccount.get(account_id) ?? 0) + 1;
        perAccount.set(account_id, own);
        mostOfOne = Math.max(mostOfOne, own);
        await clock.sleep(1_000);
        running--;
        perAccount.set(account_id, (perAccount.get(account_id) ?? 1) - 1);
        return accepted(attempt);
      },
    });
    const one = engine(open().connect(), {
      transports: [line],
      concurrency: 5,
      laneConcurrency: 3,
    });
    const accounts = await Promise.all(
      ["a", "b", "c"].map((name) => one.accounts.create({ name })),
    );
    for (const { account } of accounts) {
      const { messages } = one.account(account.id);
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          messages.send({ to: `+1500555${1_000 + n}`, body: "Hi" }),
        ),
      );
    }
    await one.start();
    await clock.advance(30_000);
    expect(line.calls).toHaveLength(30);
    expect([most <= 5, mostOfOne]).toEqual([true, 3]);
  });

  it("finds a message behind a stuck account's backlog and many idle accounts, by polling", async () => {
    const { clock, started } = world();
    const ground = open();
    const line = carrier({
      send: ({ body }, attempt) => (body === "stuck" ? new Promise(() => {}) : accepted(attempt)),
    });
    const one = await started(ground.connect(), { transports: [line], laneConcurrency: 1 });
    const { messages } = one.account((await one.accounts.create({ name: "stuck" })).account.id);
    await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        messages.send({ to: `+1500555${1_000 + n}`, body: "stuck" }),
      ),
    );
    await clock.settle();
    // In the rotation, these lanes come before the message's own.
    const storage = ground.connect();
    await storage.open(schema);
    const later = Array.from({ length: 2_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, clock.now() + 3_600_000),
    );
    await storage
      .begin()
      .commit(
        later.map((row) => ({ kind: "insert", collection: jobs, row: { ...row, version: 1 } })),
      );
    await one.messages.send({ to: "+15005550001", body: "mine" });
    await clock.advance(1_000);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["stuck", "mine"]);
  });

  it("serves an account during another one's flood, after at most one rotation", async () => {
    const { clock, engine } = world();
    const line = carrier({ send: (_, attempt) => clock.sleep(100).then(() => accepted(attempt)) });
    const one = engine(open().connect(), {
      transports: [line],
      concurrency: 8,
      laneConcurrency: 4,
    });
    const [flood, other] = await Promise.all(
      ["flood", "other"].map((name) => one.accounts.create({ name })),
    );
    const flooding = one.account(flood?.account.id).messages;
    await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        flooding.send({ to: `+1500555${1_000 + n}`, body: "Hi" }),
      ),
    );
    await one.start();
    await clock.advance(1_000);
    const { id } = await one
      .account(other?.account.id)
      .messages.send({ to: "+15005550001", body: "Me too" });
    const sent = clock.now();
    await clock.advance(500);
    const call = line.calls.find(({ message }) => message.message_id === id);
    expect((call?.at ?? Infinity) - sent).toBeLessThanOrEqual(200);
    expect(line.calls.length).toBeLessThan(300);
  });

  it("continues a backlog over several job runs, in order", async () => {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    const bodies = Array.from({ length: 120 }, (_, n) => String(n));
    await one.messages.batch({ messages: bodies.map((body) => ({ to: "+15005550001", body })) });
    await one.start();
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(bodies);
  });
});

it("a commit of another engine on the same memory wakes a dispatcher at once", async () => {
  const storage = memory();
  const { clock, engine, started } = world();
  const line = carrier();
  await started(storage, { transports: [line] });
  await clock.advance(7_777);
  await engine(storage).messages.send({ to: "+15005550001", body: "Hi" });
  await clock.settle();
  expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
});

it("a commit of another connection to the same SQLite file wakes a dispatcher immediately", async () => {
  const [, sqlite] = storages;
  const ground = sqlite?.open();
  if (ground === undefined) throw new Error("no storage");
  const { clock, engine, started } = world();
  const called = held<void>();
  const line = carrier({
    send(_, attempt) {
      called.answer();
      return accepted(attempt);
    },
  });
  await started(ground.connect(), { transports: [line] });
  await clock.advance(7_777);
  await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hi" });
  // Virtual time stands still, so no poll can have happened.
  await called.promise;
  expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
});

it("rarely looks for a job that a transaction holds, beside others that wait for a slot", async () => {
  const { clock, engine } = world();
  const storage = memory();
  let [claims, isHeld] = [0, false];
  const port = over(storage, {
    capabilities: { ...storage.capabilities, synchronous: false }, // others lock no rows
    begin(how) {
      const group = storage.begin(how);
      return over(group, {
        read(lookups) {
          if (!lookups.some(({ lock }) => lock === true)) return group.read(lookups);
          claims++;
          return isHeld ? lookups.map(() => []) : group.read(lookups);
        },
      });
    },
  });
  const names = ["hung", "other"];
  const transports = names.map((name) => carrier({ name, send: () => new Promise(() => {}) }));
  const one = engine(port, { transports, laneConcurrency: 1 });
  for (const [i, transport] of names.entries()) {
    await one.senders.create({ channels: ["sms"], address: `+1777000100${i}`, transport });
  }
  await one.start();
  const hung = { from: "+17770001000", body: "Hi" };
  for (const to of ["+15005550001", "+15005550002"]) await one.messages.send({ ...hung, to });
  await clock.settle();
  isHeld = true;
  // Armed by a timer, so that the search has to find it.
  const send_at = new Date(clock.now() + 1_000).toISOString();
  await one.messages.send({ from: "+17770001001", to: "+15005550003", body: "Hi", send_at });
  await clock.advance(1_000);
  claims = 0;
  await clock.advance(10_000);
  const text = `The wait between ${claims} searches is short at first, and grows.`;
  expect(claims > 5 && claims < 15, text).toBe(true);
});

it.each([
  // All due jobs fit into one read, or a second read takes those of the lane.
  [40, jobsByDueTime, 1],
  [300, jobsByLane, 2],
])(
  "of %i due jobs in one lane, takes the next ones when another engine is faster with the first",
  async (count, lastIndex, prefixLength) => {
    const { clock, engine, started } = world();
    const storage = memory();
    const rival = carrier({ send: () => new Promise(() => {}) });
    const other = engine(storage, { transports: [rival], laneConcurrency: 8 });
    let isOvertaken = false;
    const reader: typeof storage.reader = over(storage.reader, {
      async range(range) {
        const rows = await storage.reader.range(range);
        const { index, prefix, until } = range;
        const isLast = index === lastIndex && prefix.length === prefixLength;
        if (isOvertaken && isLast && until !== undefined) {
          isOvertaken = false;
          await other.start();
          await clock.settle();
        }
        return rows;
      },
    });
    const line = carrier();
    // A storage without notifications, so that only a poll finds the jobs.
    const own = over(storage, { reader, watch: () => () => {} });
    await started(own, { transports: [line], laneConcurrency: 8 });
    await clock.settle();
    const numbers = Array.from({ length: count }, (_, n) => `+1500555${1_000 + n}`);
    await Promise.all(numbers.map((to) => other.messages.send({ to, body: "Hi" })));
    isOvertaken = true;
    await clock.advance(5_100);
    expect(rival.calls, "the other engine takes as many jobs as have room").toHaveLength(8);
    expect(line.calls, "this engine takes the others, soon after its poll").toHaveLength(count - 8);
    const next = line.calls.slice(0, 8).map(({ message }) => message.to);
    expect(next, "at random, since engines that go by order want the same").not.toEqual(
      next.toSorted(),
    );
  },
);
