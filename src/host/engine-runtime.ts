import type { KeyObject } from "node:crypto";
import type { AgentRuntime } from "../agents/index.ts";
import { contactActivity } from "../conversations/index.ts";
import type { AccountOf, ConsumerRuntime, Consumers } from "../events/index.ts";
import { dayMs, hourMs, LogLimit } from "../kernel/index.ts";
import { isMessageInProgress } from "../messages/index.ts";
import {
  readTransportFacts,
  type HookHandler,
  type HostPolicies,
  type Runtime,
  type Services,
  type Signals,
} from "../operations/index.ts";
import type { ActionPort } from "../ports/index.ts";
import { createSandboxSenders } from "../senders/index.ts";
import type { Store } from "../store/index.ts";
import type { WebhookRuntime } from "../webhooks/index.ts";
import type { Settings } from "./options/options.ts";

/** The dependencies of all the engine's jobs. */
export type EngineRuntime = Settings & AgentRuntime & Runtime & ConsumerRuntime & WebhookRuntime;

interface RuntimeOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly hostPolicies: HostPolicies;
  readonly consumers: Consumers;
  readonly hookHandlers: readonly HookHandler[];
  readonly secret: KeyObject;
  readonly signals: Signals;
  readonly accountOf: AccountOf;
}

/** Builds the dependencies of operations and jobs from the settings, once the storage is open. */
export function engineRuntime({
  settings,
  store,
  hostPolicies,
  consumers,
  hookHandlers,
  secret,
  signals,
  accountOf,
}: RuntimeOptions): EngineRuntime {
  const { random, limits, transports, routes, sentiment, webchat, consent } = settings;
  const { quietHours, language, timeZone, reopenHours, http, agents, historyChunks } = settings;
  const { eventRetentionDays } = settings;
  const services: Services = {
    random,
    limits,
    transports,
    factsByTransport: readTransportFacts(transports),
    routes,
    consent,
    quietHours,
    language,
    timeZone,
    reopenMs: reopenHours * hourMs,
    eventsKeptMs: eventRetentionDays * dayMs,
    webchatSessionMs: webchat.sessionHours * hourMs,
    scoresSentiment: sentiment !== undefined,
    destinations: http?.destinations,
    hasAgents: agents !== undefined,
    actions: agents?.actions ?? new Map<string, ActionPort>(),
    contactActivity,
    hookHandlers,
    setUpSandbox: createSandboxSenders,
    isInProgress: isMessageInProgress,
    secret,
    historyChunks,
  };
  const refusals = new LogLimit(settings.clock);
  const own = { store, services, hostPolicies, consumers, signals, refusals, accountOf };
  return { ...settings, ...own };
}
