import { carriersOf } from "./messages/carriers.ts";
import type { Consumers } from "./events/consumers.ts";
import { Dispatcher } from "./queue/dispatcher.ts";
import { arm } from "./queue/rows.ts";
import { roads } from "./queue/rules.ts";
import type { HostPolicies } from "./operations/host-policies.ts";
import type { DrawId } from "./kernel/ids.ts";
import { jobHandlers } from "./jobs.ts";
import { reapJob } from "./privacy/reap-job.ts";
import type { Services } from "./operations/operation.ts";
import type { Settings } from "./options.ts";
import { analyzerName } from "./ports/sentiment.ts";
import type { Store } from "./store/store.ts";
import { startTransports } from "./messages/transports.ts";
import { DeliveryReader } from "./webhooks/delivery-reader.ts";

/** What an engine does by itself while it is started. */
export interface Work {
  /** Another process may have committed something. */
  wake(): void;
  /** Begins nothing more, and ends what is under way at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export interface WorkOptions {
  readonly store: Store;
  readonly drawId: DrawId;
  readonly services: Services;
  readonly policies: HostPolicies;
  readonly consumers: Consumers;
}

const dayMs = 86_400_000;

export async function startWork(settings: Settings, options: WorkOptions): Promise<Work> {
  const { storage, clock, random, logger, transports, sentiment, http, webhooks, agents } =
    settings;
  const { store, drawId, services, policies, consumers } = options;
  await store.commitUnscoped((tx) => arm(tx, reapJob(tx.now)));
  await consumers.open();
  await startTransports(transports, { store, services, clock, logger });
  const handlers = jobHandlers({
    store,
    clock,
    random,
    logger,
    drawId,
    services,
    policies,
    transports,
    carriers: carriersOf(transports),
    consumers,
    analyzer: sentiment,
    http,
    agents,
    webhookDeadlineMs: webhooks.deadlineSeconds * 1_000,
    eventMs: settings.eventRetentionDays * dayMs,
  });
  const dispatcher = new Dispatcher({
    store,
    clock,
    random,
    logger,
    handlers,
    farSides: new Set([
      ...transports.map(({ name }) => name),
      ...(sentiment === undefined ? [] : [analyzerName]),
    ]),
    roads: roads.filter(
      (road) => road === "work" || (road === "turns" ? agents : http) !== undefined,
    ),
    serves: (lane) => consumers.serves(lane),
    concurrency: settings.concurrency,
    laneConcurrency: settings.laneConcurrency,
    consumerConcurrency: store.hasTransactions
      ? storage.capabilities.transactions
      : settings.concurrency,
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
