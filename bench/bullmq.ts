/**
 * BullMQ on a Redis server of its own. The server writes nothing to disk, so a job that was added
 * is lost if it crashes. SQLite with `synchronous=FULL` promises more.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { recipient, text } from "./support/engines.ts";
import { concurrently, countdown, stopwatch, type Work } from "./support/measure.ts";

const concurrency = 100;

export const bullmqSettings =
  `concurrency ${concurrency} (the fastest of 24, 100 and 256 here), removeOnComplete; Redis ` +
  `without persistence, on a Unix socket`;

/** Whether this machine has a Redis server. */
export function hasRedis(): boolean {
  return spawnSync("redis-server", ["--version"]).status === 0;
}

/** Adds `items` jobs, `atOnce` at a time, and measures until a worker has completed the last. */
export async function bullmq(items: number, atOnce: number): Promise<Work> {
  await using redis = await startRedis();
  const connect = (): Redis => new Redis({ path: redis.path, maxRetriesPerRequest: null });
  const connections = [connect(), connect()] as const;
  const queue = new Queue("send", {
    connection: connections[0],
    defaultJobOptions: { removeOnComplete: true },
  });
  const worker = new Worker("send", () => Promise.resolve(), {
    connection: connections[1],
    concurrency,
  });
  const add = (i: number): Promise<unknown> =>
    queue.add("send", { to: recipient("new", i), body: text });
  const first = countdown(1_000);
  const all = countdown(items);
  let completed = first.count;
  worker.on("completed", () => completed());
  await concurrently(1_000, atOnce, (i) => add(items + i));
  await first.done;
  completed = all.count;
  const elapsed = stopwatch();
  await concurrently(items, atOnce, add);
  await all.done;
  const work = { items, ...elapsed() };
  await worker.close();
  await queue.close();
  for (const connection of connections) connection.disconnect();
  return work;
}

async function startRedis(): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await mkdtemp(join(tmpdir(), "tidings-bench-redis-"));
  const path = join(directory, "redis.sock");
  const server = spawn(
    "redis-server",
    ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", directory],
    { stdio: "ignore" },
  );
  for (let tries = 0; !existsSync(path); tries++) {
    if (tries === 200) throw new Error("redis-server did not start within 10 seconds");
    await sleep(50);
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill();
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
