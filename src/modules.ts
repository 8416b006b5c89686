import { type JobHandlers, type JobKind, type JobTable, queueModule } from "./queue/index.ts";
import {
  type HookHandler,
  type Module,
  operationsModule,
  type Route,
  type Tag,
} from "./operations/index.ts";
import { callConsumer, eventsModule } from "./events/index.ts";
import { accountsModule } from "./accounts/index.ts";
import { contactsModule } from "./contacts/index.ts";
import { sendersModule } from "./senders/index.ts";
import { conversationJobs, conversationsModule } from "./conversations/index.ts";
import { consentsModule } from "./consents/index.ts";
import { messageJobs, messagesModule } from "./messages/index.ts";
import { observationsModule } from "./observations/index.ts";
import { scoreMessages, sentimentModule } from "./sentiment/index.ts";
import { webchatModule } from "./webchat/index.ts";
import { agentJobs, agentsModule } from "./agents/index.ts";
import { webhookJobs, webhooksModule } from "./webhooks/index.ts";
import { sandboxModule } from "./sandbox/index.ts";
import { contactJobs, privacyModule, reap } from "./privacy/index.ts";
import { openApiDocument, serviceRoutes } from "./api/index.ts";
import type { EngineRuntime } from "./host/index.ts";
import type { Limits } from "./kernel/index.ts";
import { type Schema, schemaOf } from "./ports/index.ts";

/** The modules of the engine, lowest first. Everything below is derived from their descriptors. */
const modules: readonly Module[] = [
  queueModule,
  operationsModule,
  eventsModule,
  accountsModule,
  contactsModule,
  sendersModule,
  conversationsModule,
  consentsModule,
  messagesModule,
  observationsModule,
  sentimentModule,
  webchatModule,
  agentsModule,
  webhooksModule,
  sandboxModule,
  privacyModule,
];

/** Everything that the engine keeps. */
export const schema: Schema = schemaOf(modules.flatMap(({ collections = [] }) => collections));

/** What the modules do at each other's hooks. */
export const hookHandlers: readonly HookHandler[] = modules.flatMap(
  (module) => module.hookHandlers ?? [],
);

const tags: readonly Tag[] = [
  ...modules.flatMap((module) => module.tags ?? []),
  { name: "Service", description: "Routes that need no API key." },
];

/** All of `/v1`. The OpenAPI document is made once, when it is first requested. */
export function apiRoutes(limits: Limits): readonly Route[] {
  let document: object | undefined;
  const routes: readonly Route[] = [
    ...modules.flatMap((module) => module.routes ?? []),
    ...serviceRoutes(() => (document ??= openApiDocument(routes, tags, limits))),
  ];
  return routes;
}

const jobTable: JobTable<EngineRuntime> = {
  ...messageJobs,
  ...conversationJobs,
  ...contactJobs,
  ...webhookJobs,
  ...agentJobs,
  score: scoreMessages,
  consume: callConsumer,
  reap,
};

/** The handlers of one engine's jobs. */
export function jobHandlers(runtime: EngineRuntime): JobHandlers {
  const handlers = Object.entries(jobTable).map(([kind, define]) => [kind, define(runtime)]);
  return Object.fromEntries(handlers) as { [K in JobKind]: JobHandlers[K] };
}
