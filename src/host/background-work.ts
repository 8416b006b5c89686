import {
  arm,
  Dispatcher,
  EngineRegister,
  type JobHandlers,
  pools,
  type Runnable,
} from "../queue/index.ts";
import type { Consumers } from "../events/index.ts";
import { startTransports, stopTransports } from "../messages/index.ts";
import { WebhookWaker } from "../webhooks/index.ts";
import { reapJob } from "../privacy/index.ts";
import { analyzerName } from "../ports/index.ts";
import type { EngineRuntime } from "./engine-runtime.ts";

/** The background work of a started engine. */
export interface Work {
  /** Checks for new work, because another process may have committed some. */
  wake(): void;
  /**
   * Starts no more jobs. Aborts those that still run at the deadline, and waits until they have
   * ended.
   */
  stop(deadlineMs: number): Promise<void>;
}

/** How long the transports may take to stop when the engine fails to start, in milliseconds. */
const undoMs = 10_000;

/** @throws TidingsError `shutting_down` when `hurry` aborts before the transports have started */
export async function startWork(
  runtime: EngineRuntime,
  createHandlers: (runtime: EngineRuntime) => JobHandlers,
  consumers: Consumers,
  hurry: AbortSignal,
): Promise<Work> {
  const { store, clock, logger, storage, transports } = runtime;
  await store.commitUnscoped((tx) => arm(tx, reapJob(tx.now)));
  await consumers.open();
  await startTransports(transports, runtime, hurry);
  const register = new EngineRegister({ store, clock, logger, locks: storage.engineLocks });
  try {
    await register.start();
  } catch (error) {
    await stopTransports(transports, undoMs, runtime);
    throw error;
  }
  const dispatcher = new Dispatcher({
    ...runtime,
    handlers: createHandlers(runtime),
    leasedBy: () => register.leasedBy,
    ...runnableJobs(runtime, consumers),
    consumerConcurrency: store.hasTransactions
      ? storage.capabilities.transactions
      : runtime.concurrency,
  });
  const webhookWaker = new WebhookWaker({ store, clock, logger });
  webhookWaker.start();
  consumers.start(() => dispatcher.wake());
  return {
    wake() {
      webhookWaker.wake();
      dispatcher.wake();
    },
    async stop(deadlineMs) {
      await webhookWaker.stop();
      const isIdle = await dispatcher.stop(deadlineMs);
      await register.stop({ isIdle });
    },
  };
}

/** Returns which jobs the engine can run with its options. */
export function runnableJobs(
  { transports, sentiment, http, agents }: EngineRuntime,
  consumers: Consumers,
): Runnable {
  const remotes = new Set(transports.map(({ name }) => name));
  if (sentiment !== undefined) remotes.add(analyzerName);
  return {
    pools: pools.filter(
      (pool) => pool === "work" || (pool === "turns" ? agents : http) !== undefined,
    ),
    remotes,
    serves: (lane) => consumers.serves(lane),
  };
}
