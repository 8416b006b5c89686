import type { Consumers } from "../events/index.ts";
import { startTransports, undoStart } from "../messages/index.ts";
import { analyzerName } from "../ports/index.ts";
import { reapJob } from "../privacy/index.ts";
import {
  arm,
  Dispatcher,
  EngineRegister,
  pools,
  type ComparedOptions,
  type JobHandlers,
  type RunnableJobs,
} from "../queue/index.ts";
import { WebhookWaker } from "../webhooks/index.ts";
import type { AwaitedWork } from "./awaited-work.ts";
import type { EngineRuntime } from "./engine-runtime.ts";
import type { Settings } from "./options/options.ts";

/** The background work of a started engine. */
export interface Work {
  /** Checks for new work, because another process may have committed some. */
  wake(): void;
  /**
   * Starts no more jobs, and waits until the running ones have ended. They are aborted at the
   * deadline of the stop.
   */
  stop(): Promise<void>;
}

interface WorkOptions {
  readonly awaitedWork: AwaitedWork;
  readonly createHandlers: (runtime: EngineRuntime) => JobHandlers;
  readonly consumers: Consumers;
  /** Aborts at the deadline of a stop. */
  readonly stopDeadline: AbortSignal;
}

/**
 * Starts the background work.
 * @throws TidingsError `shutting_down` when `stopDeadline` aborts before the transports have
 *   started
 */
export async function startWork(
  runtime: EngineRuntime,
  { awaitedWork, createHandlers, consumers, stopDeadline }: WorkOptions,
): Promise<Work> {
  const { store, clock, logger, storage, transports } = runtime;
  await store.commitUnscoped((tx) => arm(tx, reapJob(tx.now)));
  await consumers.open();
  await startTransports(transports, runtime, stopDeadline);
  const register = new EngineRegister({
    store,
    clock,
    logger,
    locks: storage.engineLocks,
    comparedOptions: comparedOptions(runtime),
  });
  try {
    await register.start();
  } catch (error) {
    await undoStart(transports, runtime, stopDeadline);
    throw error;
  }
  const dispatcher = new Dispatcher({
    ...runtime,
    handlers: createHandlers(runtime),
    awaitedWork,
    abort: stopDeadline,
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
    async stop() {
      const [isIdle] = await Promise.all([dispatcher.stop(), webhookWaker.stop()]);
      await register.stop({ isIdle });
    },
  };
}

/** Without `agents`, an engine runs no turns, and so calls no actions. */
function comparedOptions(settings: Settings): ComparedOptions {
  const { transports, routes, policies, quietHours, agents } = settings;
  return {
    transports: transports.map(({ name }) => name),
    routes: routes.map((route) => route.transports.join(", ")),
    policies: policies.map(({ name }) => name),
    quietHours: quietHours === null ? [] : [`${quietHours.from} to ${quietHours.to}`],
    ...(agents !== undefined && { actions: [...agents.actions.keys()] }),
  };
}

/** Returns which jobs the engine can run with its options. */
export function runnableJobs(
  { transports, sentiment, http, agents }: EngineRuntime,
  consumers: Consumers,
): RunnableJobs {
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
