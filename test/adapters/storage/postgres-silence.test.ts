import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { postgres } from "../../../adapters/storage/postgres/index.ts";
import { ConnectionPool } from "../../../adapters/storage/postgres/pool.ts";
import { database, migrated } from "../../support/postgres.ts";
import { world } from "../../support/world.ts";
import { notes, says, write } from "./sqlite-files.ts";
import { firstSchema, insertNote } from "./sqlite-schemas.ts";

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
      message: says(/became free|was lost/),
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

it("an engine stops at its deadline although the server does not respond any more", async () => {
  const where = await database(await migrated());
  const proxy = await where.proxy();
  const pool = where.pool({ connectionString: proxy.url });
  const { clock, engine } = world();
  const one = engine(postgres({ pool }));
  await one.start();
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
}, 60_000);

it("a pool that ends while somebody waits for it leaves no timer, which would keep the process running", async () => {
  const where = await database();
  const pool = where.pool({ max: 1 });
  const client = await pool.connect();
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const taking = new ConnectionPool(pool).take().catch((error: unknown) => error);
  vi.advanceTimersByTime(10_000);
  expect(await taking).toMatchObject({ code: "storage_unavailable" });
  const ended = pool.end();
  client.release();
  await ended;
  vi.advanceTimersByTime(10_000);
  expect(vi.getTimerCount()).toBe(0);
});
