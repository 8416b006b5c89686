import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ConnectionPool } from "../../../../../adapters/storage/postgres/connections/pool.ts";
import { postgres } from "../../../../../adapters/storage/postgres/index.ts";
import type { EngineLock, StoragePort } from "../../../../../src/ports/index.ts";
import { stopped, world } from "../../../../support/engines/world.ts";
import { eventually } from "../../../../support/eventually.ts";
import { database, migrated } from "../../../../support/postgres/test-database.ts";
import { longTest } from "../../../../support/runs.ts";
import { firstSchema, insertNote, notes } from "../../notes.ts";
import { says, write } from "../../port.ts";
import { opened, openTransaction } from "./opened.ts";

it("a server that accepted connections and did not respond for a while can be used afterwards", async () => {
  const where = await database();
  const proxy = await where.proxy();
  const pool = where.pool({ connectionString: proxy.url, max: 2 });
  const port = postgres({ pool });
  await port.open(firstSchema);
  await write(port, insertNote("before"));
  proxy.isSilent = true;
  proxy.cut();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const pass = async <T>(work: Promise<T>): Promise<unknown> => {
    const settled = work.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    return settled;
  };
  // More waits than the pool has places.
  for (let i = 0; i < 6; i++) {
    expect(await pass(write(port, insertNote("during")))).toMatchObject({
      code: "storage_unavailable",
      retryable: true,
      message: says(/accepted no connection|was lost/),
    });
  }
  proxy.isSilent = false;
  await pass(notes(port));
  vi.useRealTimers();
  await write(port, insertNote("after"));
  expect(await notes(port)).toEqual(["after", "before"]);
  await port.close();
  await pool.end();
});

longTest(
  "an engine stops at its deadline although the server does not respond any more",
  async () => {
    const where = await database(await migrated());
    const proxy = await where.proxy();
    const pool = where.pool({ connectionString: proxy.url });
    const { clock, started } = world();
    const one = await started(postgres({ pool }));
    await one.messages.send({ to: "+15005550001", body: "Before" });
    proxy.isSilent = true;
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const sent = one.messages.send({ to: "+15005550001", body: "After" });
    const refused = sent.catch((error: unknown) => error);
    let isOver = false;
    const stopped = one.stop({ deadlineMs: 2_000 }).finally(() => (isOver = true));
    await clock.advance(2_000);
    // The timers that let each call fail later stand still.
    while (!isOver) {
      await sleep(20);
      await clock.advance(100);
    }
    await stopped;
    expect(await refused).toMatchObject({ code: "storage_unavailable" });
    proxy.cut();
    await pool.end();
  },
  60_000,
);

it("many callers that stopped waiting return a connection one after the other without a warning of Node", async () => {
  const pool = (await database()).pool({ max: 1 });
  const client = await pool.connect();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const connections = new ConnectionPool(pool);
  const waits = Promise.allSettled(Array.from({ length: 12 }, () => connections.take()));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(new Set((await waits).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  const warn = vi.spyOn(process, "emitWarning");
  onTestFinished(() => warn.mockRestore());
  client.release();
  const { release } = await connections.take();
  release();
  expect(warn).not.toHaveBeenCalled();
});

it("calls during a long outage leave no more requests in the pool than wait at a time", async () => {
  const pool = (await database()).pool({ max: 1 });
  const client = await pool.connect();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const connections = new ConnectionPool(pool);
  for (let round = 0; round < 5; round++) {
    const waits = Array.from({ length: 10 }, () => connections.take());
    const outcomes = Promise.allSettled(waits);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  }
  const left = { requests: pool.waitingCount, timers: vi.getTimerCount() };
  const taking = connections.take();
  client.release();
  (await taking).release();
  await eventually(() => expect([pool.waitingCount, pool.idleCount]).toEqual([0, 1]));
  expect(vi.getTimerCount()).toBe(0);
  expect(left).toEqual({ requests: 10, timers: 10 });
});

describe("a pool that the host application ends", () => {
  it("refuses at once every call that waits for a connection, and the engine stops", async () => {
    const where = await database(await migrated());
    const pool = where.pool({ max: 2 });
    const { clock, started } = world();
    const one = await started(postgres({ pool }));
    // The engine listens on the other connection.
    const taken = await pool.connect();
    onTestFinished(() => taken.release());
    fakeIntervals();
    const outcomes = [
      outcome(one.messages.send({ to: "+15005550001", body: "Hello" })),
      outcome(one.messages.list()),
      outcome(one.transaction(async () => {})),
    ];
    await eventually(() => expect(pool.waitingCount).toBeGreaterThan(2));
    void pool.end();
    await vi.advanceTimersByTimeAsync(500);
    await eventually(() => expect(outcomes).not.toContainEqual({}));
    expect(outcomes).toEqual([refused, refused, refused]);
    await stopped(one, clock);
  });

  it("refuses the lock of an engine whose connection to listen is not open yet", async () => {
    const where = await database();
    const proxy = await where.proxy();
    const pool = where.pool({ connectionString: proxy.url, max: 2 });
    const port = postgres({ pool });
    await port.open(firstSchema);
    proxy.isSilent = true;
    proxy.cut();
    fakeIntervals();
    const lock = outcome((port as Required<StoragePort>).engineLocks.take());
    await eventually(() => expect(pool.totalCount).toBe(1));
    const ended = pool.end();
    await vi.advanceTimersByTimeAsync(500);
    expect((lock.value as EngineLock).isHeld()).toBe(false);
    await port.close();
    // The attempt to connect holds up the end of the pool.
    await vi.advanceTimersByTimeAsync(10_000);
    await ended;
  });

  it("gets back the connection that listens, so that its end does not wait for the end of the engine", async () => {
    const pool = (await database()).pool();
    const port = postgres({ pool });
    onTestFinished(() => port.close());
    await port.open(firstSchema);
    fakeIntervals();
    const lock = await port.engineLocks?.take();
    expect(lock?.isHeld()).toBe(true);
    const ended = pool.end();
    await vi.advanceTimersByTimeAsync(500);
    expect([pool.totalCount, lock?.isHeld()]).toEqual([0, false]);
    await ended;
  });

  it("refuses transactions that wait for their turn", async () => {
    const pool = (await database()).pool({ max: 2 });
    const port = await opened(pool);
    const first = await openTransaction(port);
    fakeIntervals();
    const late = outcome(port.transaction(async () => {}));
    const ended = pool.end();
    await vi.advanceTimersByTimeAsync(500);
    expect(late).toEqual(refused);
    await first.end();
    await ended;
  });

  it("leaves no timer, which would keep the process running", async () => {
    const where = await database();
    const pool = where.pool({ max: 1 });
    const client = await pool.connect();
    fakeIntervals();
    const taken = outcome(new ConnectionPool(pool).take());
    const ended = pool.end();
    client.release();
    await ended;
    await vi.advanceTimersByTimeAsync(500);
    expect(taken).toEqual(refused);
    expect(vi.getTimerCount()).toBe(0);
  });

  const refused = {
    error: expect.objectContaining({
      code: "storage_unavailable",
      retryable: false,
      message: says(/^The pool has been ended\. Stop the engine before/),
    }) as unknown,
  };

  /** Returns an object that gets the value or the error of a promise once there is one. */
  function outcome<T>(work: Promise<T>): { value?: T; error?: unknown } {
    const reached: { value?: T; error?: unknown } = {};
    work.then(
      (value) => (reached.value = value),
      (error: unknown) => (reached.error = error),
    );
    return reached;
  }

  function fakeIntervals(): void {
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  }
});
