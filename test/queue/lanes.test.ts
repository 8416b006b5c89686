import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DueJobs } from "../../src/queue/due.ts";
import { jobs, type JobRow } from "../../src/queue/rows.ts";
import { schema } from "../../src/schema.ts";
import { reads } from "../../src/store/reads.ts";
import { accepted, busy, carrier, held } from "../support/carrier.ts";
import { over } from "../support/over.ts";
import { runs } from "../support/runs.ts";
import { storages } from "../support/storages.ts";
import { world } from "../support/world.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");

function job(key: string, lane: string, due_at: number): JobRow {
  const name = { kind: "send", key } as const;
  return {
    ...name,
    road: "work",
    lane,
    due_at,
    account_id: null,
    mode: null,
    leased: false,
    fence: 0,
    rearmed_at: null,
    failures: 0,
  };
}

describe.each(storages)("due jobs on $name", ({ name, open }) => {
  async function search(rows: readonly JobRow[]): Promise<DueJobs> {
    return (await counted(rows)).due;
  }

  async function counted(
    rows: readonly JobRow[],
  ): Promise<{ due: DueJobs; read: { ranges: number; rows: number } }> {
    const storage = open().connect();
    await storage.open(schema);
    await storage
      .begin()
      .commit(
        rows.map((row) => ({ kind: "insert", collection: jobs, row: { ...row, version: 1 } })),
      );
    const read = { ranges: 0, rows: 0 };
    const reader: typeof storage.reader = over(storage.reader, {
      async range(range) {
        const found = await storage.reader.range(range);
        read.ranges++;
        read.rows += found.length;
        return found;
      },
    });
    return { due: new DueJobs(reads(reader), "work"), read };
  }

  it("of a lane with 10,000 delay another lane's one by their turn, however late that came", async () => {
    const flood = Array.from({ length: 10_000 }, (_, n) =>
      job(`flood ${n}`, "flood", now - 10_000 + n),
    );
    const due = await search([...flood, job("other", "other", now)]);
    const turns = [
      await due.find({ now, free: 4, freeIn: () => 4 }),
      await due.find({ now, free: 4, freeIn: () => 4 }),
    ];
    expect(turns.flat().map(({ key }) => key)).toContain("other");
    expect(turns[0]).toHaveLength(4);
  });

  it("are found though thousands of other lanes have nothing due yet", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "z flood", now - n));
    const due = await search([...later, ...flood]);
    for (let turn = 0; turn < 3; turn++) {
      expect(await due.find({ now, free: 8, freeIn: () => 8 })).toHaveLength(8);
    }
  });

  it("cost a search little, though one lane has a flood of them and thousands of others have nothing due yet", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) => job(`flood ${n}`, "z flood", now - n));
    const { due, read } = await counted([...later, ...flood]);
    for (const free of [16, 1, 0, 0]) {
      read.ranges = read.rows = 0;
      expect(
        await due.find({ now, free: 64, freeIn: (lane) => (lane === "z flood" ? free : 16) }),
      ).toHaveLength(free);
      expect(read.ranges).toBeLessThan(100);
      expect(read.rows).toBeLessThan(1_000);
    }
  });

  it("of a quiet lane are found in the end, behind a full lane's flood and thousands of lanes with nothing due yet", async () => {
    const later = Array.from({ length: 3_000 }, (_, n) =>
      job(`later ${n}`, `a lane ${n}`, now + 60_000),
    );
    const flood = Array.from({ length: 300 }, (_, n) =>
      job(`flood ${n}`, "b flood", now - 1_000 - n),
    );
    const { due } = await counted([...later, ...flood, job("quiet", "a lane 2999", now)]);
    for (const free of [0, 1]) {
      const found: string[] = [];
      for (let n = 0; n < 30 && !found.includes("quiet"); n++) {
        found.push(
          ...(
            await due.find({ now, free: 1, freeIn: (lane) => (lane === "b flood" ? free : 16) })
          ).map(({ key }) => key),
        );
      }
      expect(found).toContain("quiet");
    }
  });

  it("are never overlooked, never too many for a lane, and every lane gets its turn", async () => {
    const lanes = ["a", "b", "c", "d"] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            lane: fc.constantFrom(...lanes),
            due: fc.integer({ min: -1_000, max: 200 }),
          }),
          {
            maxLength: 60,
            size: "max",
          },
        ),
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        async (drawn, caps, free, flooded) => {
          const flood = flooded
            ? Array.from({ length: 256 }, (_, n) => job(`flood ${n}`, "b", now - 2_000))
            : [];
          const rows = [
            ...flood,
            ...drawn.map(({ lane, due }, n) => job(String(n), lane, now + due)),
          ];
          const capOf = (lane: string): number =>
            caps[lanes.findIndex((each) => each === lane)] ?? 0;
          const found = await (await search(rows)).find({ now, free, freeIn: capOf });
          const byKey = new Map(rows.map((row) => [row.key, row]));
          const taken = found.map(({ key }) => byKey.get(key) ?? job("", "", Infinity));
          expect(new Set(taken).size).toBe(taken.length);
          expect(taken.every(({ due_at }) => due_at <= now)).toBe(true);
          const room = lanes.map((lane) =>
            Math.min(
              capOf(lane),
              rows.filter((row) => row.lane === lane && row.due_at <= now).length,
            ),
          );
          expect(taken).toHaveLength(
            Math.min(
              free,
              room.reduce((a, b) => a + b, 0),
            ),
          );
          if (flooded) return;
          // In turns: no lane has two more than another that could have had more.
          const counts = lanes.map((lane) => taken.filter((each) => each.lane === lane).length);
          for (const [i, count] of counts.entries()) {
            if (count < (room[i] ?? 0)) expect(Math.max(...counts) - count).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: runs({ memory: 40, SQLite: 40, PostgreSQL: 8 }[name]) },
    );
  });
});

describe.each(storages)("dispatch on $name", ({ open }) => {
  it("runs no more jobs at once than it may, in all and for one destination", async () => {
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

  it("finds a message behind a stuck account's backlog and many accounts with nothing due yet, without an event to wake it", async () => {
    const { clock, engine } = world();
    const ground = open();
    const line = carrier({
      send: ({ body }, attempt) => (body === "stuck" ? new Promise(() => {}) : accepted(attempt)),
    });
    const one = engine(ground.connect(), { transports: [line], laneConcurrency: 1 });
    await one.start();
    const { messages } = one.account((await one.accounts.create({ name: "stuck" })).account.id);
    await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        messages.send({ to: `+1500555${1_000 + n}`, body: "stuck" }),
      ),
    );
    await clock.settle();
    // In the ring of lanes these stand before the message's own.
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

  it("serves an account beside another one's flood: its message waits a turn, not the flood's end", async () => {
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
      Array.from({ length: 600 }, (_, n) =>
        flooding.send({ to: `+1500555${1_000 + n}`, body: "Hi" }),
      ),
    );
    await one.start();
    await clock.advance(1_000);
    const { id } = await one
      .account(other?.account.id)
      .messages.send({ to: "+15005550001", body: "Me too" });
    const sent = clock.now();
    await clock.advance(2_000);
    const call = line.calls.find(({ message }) => message.message_id === id);
    expect((call?.at ?? Infinity) - sent).toBeLessThanOrEqual(200);
    expect(line.calls.length).toBeLessThan(600);
  });

  it("keeps a retry's time though another destination is stuck with more due than it has room for", async () => {
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

  it("keeps the order of a conversation: what comes later waits while an earlier message backs off", async () => {
    const { clock, engine } = world();
    const line = carrier({
      send: ({ body }, attempt) =>
        body === "1" && attempt.number <= 3 ? busy() : accepted(attempt),
    });
    const one = engine(open().connect(), { transports: [line] });
    await one.start();
    for (const body of ["1", "2", "3"]) await one.messages.send({ to: "+15005550001", body });
    await one.messages.send({ to: "+15005550002", body: "elsewhere" });
    await clock.advance(5_999);
    expect(line.calls.map(({ message }) => message.body)).toEqual(["1", "elsewhere", "1"]);
    await clock.advance(60_000);
    expect(
      line.calls.map(({ message }) => message.body).filter((body) => body !== "elsewhere"),
    ).toEqual(["1", "1", "1", "1", "2", "3"]);
  });

  it("lets a conversation go on past a scheduled message and past one whose fate is unknown", async () => {
    const { clock, engine } = world();
    const line = carrier({
      send({ body }, attempt) {
        if (body === "lost") throw new Error("gone");
        return accepted(attempt);
      },
    });
    const one = engine(open().connect(), { transports: [line] });
    await one.start();
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

  it("goes on with a backlog longer than one go, in order", async () => {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    const bodies = Array.from({ length: 120 }, (_, n) => String(n));
    await one.messages.batch({ messages: bodies.map((body) => ({ to: "+15005550001", body })) });
    await one.start();
    await clock.settle();
    expect(line.calls.map(({ message }) => message.body)).toEqual(bodies);
  });

  it("begins as soon as a message is committed here, without a poll", async () => {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    await one.start();
    await clock.advance(7_777);
    await one.messages.send({ to: "+15005550001", body: "Hi" });
    await clock.settle();
    expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
  });

  it("releases a scheduled message in its millisecond, also one that was edited to come sooner", async () => {
    const { clock, engine } = world();
    const line = carrier();
    const one = engine(open().connect(), { transports: [line] });
    await one.start();
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

  it("is not ended by a storage that fails for a while", async () => {
    const { clock, engine } = world();
    const storage = open().connect();
    let down = false;
    const reader: typeof storage.reader = over(storage.reader, {
      range: (range) => (down ? Promise.reject(new Error("away")) : storage.reader.range(range)),
    });
    const line = carrier();
    const one = engine(over(storage, { reader }), { transports: [line] });
    await one.start();
    down = true;
    await one.messages.send({ to: "+15005550001", body: "Hi" });
    await clock.advance(10_000);
    expect(line.calls).toEqual([]);
    down = false;
    await clock.advance(1_000);
    expect(line.calls).toHaveLength(1);
  });
});

it("a commit of another engine on the same memory wakes a dispatcher at once", async () => {
  const [memory] = storages;
  const ground = memory?.open();
  if (ground === undefined) throw new Error("no storage");
  const { clock, engine } = world();
  const line = carrier();
  await engine(ground.connect(), { transports: [line] }).start();
  await clock.advance(7_777);
  await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hi" });
  await clock.settle();
  expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
});

it("a commit of another connection to the same SQLite file wakes a dispatcher within a blink of real time", async () => {
  const [, sqlite] = storages;
  const ground = sqlite?.open();
  if (ground === undefined) throw new Error("no storage");
  const { clock, engine } = world();
  const called = held<void>();
  const line = carrier({
    send(_, attempt) {
      called.answer();
      return accepted(attempt);
    },
  });
  await engine(ground.connect(), { transports: [line] }).start();
  await clock.advance(7_777);
  await engine(ground.connect()).messages.send({ to: "+15005550001", body: "Hi" });
  // Virtual time stands still, so no poll can have done it.
  await called.promise;
  expect(line.calls.map(({ at }) => at)).toEqual([clock.now()]);
});
