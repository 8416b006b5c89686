import { type JobHandlers, type JobKind, type JobTable, queueModule } from "./queue/index.ts";
import {
  type HookHandler,
  type Module,
  operationsModule,
  type ApiRoute,
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

/** The modules of the engine, lowest first. The schema, the hook handlers and the routes are derived from their descriptors. */
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

/** The storage schema: the collections of all modules. */
export const schema: Schema = schemaOf(modules.flatMap(({ collections = [] }) => collections));

/** The hook handlers of all modules. */
export const hookHandlers: readonly HookHandler[] = modules.flatMap(
  (module) => module.hookHandlers ?? [],
);

const tags: readonly Tag[] = [
  ...modules.flatMap((module) => module.tags ?? []),
  { name: "Service", description: "Routes that need no API key." },
];

/** All routes of `/v1`. The OpenAPI document is built once, at the first request for it. */
export function apiRoutes(limits: Limits): readonly ApiRoute[] {
  let document: object | undefined;
  const routes: readonly ApiRoute[] = [
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

/** Creates the job handlers of one engine. */
export function jobHandlers(runtime: EngineRuntime): JobHandlers {
  const handlers = Object.entries(jobTable).map(([kind, define]) => [kind, define(runtime)]);
  return Object.fromEntries(handlers) as { [K in JobKind]: JobHandlers[K] };
}
