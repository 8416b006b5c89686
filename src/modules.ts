import { queueModule } from "./queue/descriptor.ts";
import { operationsModule } from "./operations/descriptor.ts";
import { eventsModule } from "./events/descriptor.ts";
import { accountsModule } from "./accounts/descriptor.ts";
import { contactsModule } from "./contacts/descriptor.ts";
import { sendersModule } from "./senders/descriptor.ts";
import { conversationsModule } from "./conversations/descriptor.ts";
import { consentsModule } from "./consents/descriptor.ts";
import { messagesModule } from "./messages/descriptor.ts";
import { observationsModule } from "./observations/descriptor.ts";
import { sentimentModule } from "./sentiment/descriptor.ts";
import { webchatModule } from "./webchat/descriptor.ts";
import { agentsModule } from "./agents/descriptor.ts";
import { webhooksModule } from "./webhooks/descriptor.ts";
import { sandboxModule } from "./sandbox/descriptor.ts";
import { privacyModule } from "./privacy/descriptor.ts";
import { agentJobs } from "./agents/jobs.ts";
import { openApiDocument } from "./api/openapi.ts";
import { serviceRoutes } from "./api/service-routes.ts";
import { conversationJobs } from "./conversations/jobs.ts";
import { callConsumer } from "./events/call-consumer.ts";
import type { EngineRuntime } from "./host/background-work.ts";
import type { Limits } from "./kernel/limits.ts";
import { messageJobs } from "./messages/jobs.ts";
import type { Route } from "./operations/api-route.ts";
import type { HookHandler } from "./operations/hooks.ts";
import type { Module, Tag } from "./operations/module.ts";
import { type Schema, schemaOf } from "./ports/collection.ts";
import { contactJobs } from "./privacy/jobs.ts";
import { reap } from "./privacy/reap-job.ts";
import type { JobHandlers, JobTable } from "./queue/job.ts";
import type { JobKind } from "./queue/types.ts";
import { scoreMessages } from "./sentiment/score-messages.ts";
import { webhookJobs } from "./webhooks/jobs.ts";

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
