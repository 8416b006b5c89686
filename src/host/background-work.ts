import { arm, Dispatcher, type JobHandlers, pools } from "../queue/index.ts";
import type { AgentRuntime } from "../agents/index.ts";
import type { ConsumerRuntime, Consumers } from "../events/index.ts";
import {
  type TransportRuntime,
  readTransportFacts,
  isMessageInProgress,
  startTransports,
} from "../messages/index.ts";
import type { Settings } from "./options.ts";
import { DeliveryReader, type WebhookRuntime } from "../webhooks/index.ts";
import { reapJob } from "../privacy/index.ts";
import { type Action, analyzerName } from "../ports/index.ts";
import type { KeyObject } from "node:crypto";
import { contactActivity } from "../conversations/index.ts";
import { type GenerateId, hourMs } from "../kernel/index.ts";
import type { HistoryChunks, HookHandler, HostPolicies, Services } from "../operations/index.ts";
import { createSandboxSenders } from "../senders/index.ts";
import type { Store } from "../store/index.ts";

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

/** The dependencies of all the engine's jobs. */
export type EngineRuntime = Settings &
  AgentRuntime &
  TransportRuntime &
  ConsumerRuntime &
  WebhookRuntime;

export async function startWork(
  runtime: EngineRuntime,
  createHandlers: (runtime: EngineRuntime) => JobHandlers,
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
    handlers: createHandlers(runtime),
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

interface RuntimeOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly drawId: GenerateId;
  readonly hostPolicies: HostPolicies;
  readonly consumers: Consumers;
  readonly hookHandlers: readonly HookHandler[];
  readonly secret: KeyObject;
  readonly historyChunks: HistoryChunks;
}

/** Builds the dependencies of operations and jobs from the settings, once the storage is open. */
export function engineRuntime({
  settings,
  store,
  drawId,
  hostPolicies,
  consumers,
  hookHandlers,
  secret,
  historyChunks,
}: RuntimeOptions): EngineRuntime {
  const { random, limits, transports, routes, sentiment, webchat, consent } = settings;
  const { quietHours, language, timeZone, reopenHours, http, agents } = settings;
  const services: Services = {
    drawId,
    random,
    limits,
    transports,
    routes,
    consent,
    quietHours,
    language,
    timeZone,
    reopenMs: reopenHours * hourMs,
    webchatSessionMs: webchat.sessionHours * hourMs,
    scoresSentiment: sentiment !== undefined,
    destinations: http?.destinations,
    hasAgents: agents !== undefined,
    actions: agents?.actions ?? new Map<string, Action>(),
    contactActivity,
    hookHandlers,
    setUpSandbox: createSandboxSenders,
    isInProgress: isMessageInProgress,
    secret,
    historyChunks,
  };
  const factsByTransport = readTransportFacts(transports);
  return { ...settings, store, drawId, services, hostPolicies, factsByTransport, consumers };
}
