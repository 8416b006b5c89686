import { arm, Dispatcher, type JobHandlers, pools } from "../queue/index.ts";
import type { AgentRuntime } from "../agents/index.ts";
import type { ConsumerRuntime, Consumers } from "../events/index.ts";
import { type CarrierRuntime, startTransports } from "../messages/index.ts";
import type { Settings } from "./options.ts";
import { DeliveryReader, type WebhookRuntime } from "../webhooks/index.ts";
import { reapJob } from "../privacy/index.ts";
import { analyzerName } from "../ports/index.ts";

/** What an engine does in the background while it is started. */
export interface Work {
  /** Looks for work: another process may have committed something. */
  wake(): void;
  /** Begins nothing more, and aborts at the deadline what still runs. */
  stop(deadlineMs: number): Promise<void>;
}

/** What every job of the engine needs. */
export type EngineRuntime = Settings &
  AgentRuntime &
  CarrierRuntime &
  ConsumerRuntime &
  WebhookRuntime;

export async function startWork(
  runtime: EngineRuntime,
  handlers: JobHandlers,
  consumers: Consumers,
): Promise<Work> {
  const { store, clock, logger, storage, transports, sentiment, http, agents } = runtime;
  await store.commitUnscoped((tx) => arm(tx, reapJob(tx.now)));
  await consumers.open();
  await startTransports(transports, runtime);
  const remotes = new Set(transports.map(({ name }) => name));
  if (sentiment !== undefined) remotes.add(analyzerName);
  const dispatcher = new Dispatcher({
    ...runtime,
    handlers,
    remotes,
    pools: pools.filter(
      (pool) => pool === "work" || (pool === "turns" ? agents : http) !== undefined,
    ),
    serves: (lane) => consumers.serves(lane),
    consumerConcurrency: store.hasTransactions
      ? storage.capabilities.transactions
      : runtime.concurrency,
  });
  const deliveries = new DeliveryReader({ store, clock, logger });
  deliveries.start();
  consumers.start(() => dispatcher.wake());
  return {
    wake() {
      deliveries.wake();
      dispatcher.wake();
    },
    async stop(deadlineMs) {
      await deliveries.stop();
      await dispatcher.stop(deadlineMs);
    },
  };
}
