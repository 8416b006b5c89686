/**
 * Job queues on PostgreSQL, configured as their documentation advises for many jobs. Each has a
 * pool of the same size.
 */
import { Logger, makeWorkerUtils, run, type Runner } from "graphile-worker";
import { PgBoss } from "pg-boss";
import type { Database } from "../../test/support/postgres/temporary-database.ts";
import { recipient, text } from "../support/engines.ts";
import { poolSize } from "../support/postgres-databases.ts";

export interface Queue extends AsyncDisposable {
  /** Resolves when the `i`th job is committed. */
  enqueue(i: number): Promise<unknown>;
  /** Runs all present and future jobs. The task only calls `processed`. */
  work(processed: () => void): Promise<void>;
}

export interface QueueKind {
  readonly name: string;
  /** Its method that adds a job. */
  readonly verb: string;
  /** Its settings, for the report. */
  readonly settings: string;
  open(database: Database): Promise<Queue>;
}

const payload = (i: number): object => ({ to: recipient("new", i), body: text });
const task = "send";

/**
 * https://worker.graphile.org/docs/performance: 24 jobs at once, 500 fetched at a time, completions
 * in batches.
 */
const graphileWorker: QueueKind = {
  name: "graphile-worker",
  verb: "addJob",
  settings: "concurrentJobs 24, localQueue.size 500, completeJobBatchDelay 0",
  async open(database) {
    const pgPool = database.pool({ max: poolSize });
    // Without a listener for errors, it prints a warning for each pool.
    pgPool.on("connect", (client) => client.on("error", () => {}));
    const logger = new Logger(() => () => {});
    const utils = await makeWorkerUtils({ pgPool, logger });
    await utils.migrate();
    let runner: Runner | undefined;
    return {
      enqueue: (i) => utils.addJob(task, payload(i)),
      async work(processed) {
        runner = await run({
          pgPool,
          logger,
          noHandleSignals: true,
          taskList: { [task]: processed },
          preset: {
            worker: {
              concurrentJobs: 24,
              localQueue: { size: 500 },
              completeJobBatchDelay: 0,
              failJobBatchDelay: 0,
            },
          },
        });
      },
      async [Symbol.asyncDispose]() {
        await runner?.stop();
        await utils.release();
      },
    };
  },
};

/**
 * https://pgboss.io: polls for batches, and fetches the next one at once if a batch was full.
 * NOTIFY would start single jobs earlier, but costs 40 % of the throughput here, since each commit
 * sends one.
 */
const pgBoss: QueueKind = {
  name: "pg-boss",
  verb: "send",
  settings: "batchSize 500, burstWhenBatchFull, pollingIntervalSeconds 0.5",
  async open(database) {
    const boss = new PgBoss({
      connectionString: database.url,
      max: poolSize,
      supervise: false,
      schedule: false,
    });
    boss.on("error", () => {});
    await boss.start();
    await boss.createQueue(task);
    return {
      enqueue: (i) => boss.send(task, payload(i)),
      async work(processed) {
        const options = { batchSize: 500, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 };
        await boss.work(task, options, (jobs) => {
          for (const _ of jobs) processed();
          return Promise.resolve();
        });
      },
      async [Symbol.asyncDispose]() {
        await boss.stop({ graceful: false });
      },
    };
  },
};

export const queues: readonly QueueKind[] = [graphileWorker, pgBoss];
