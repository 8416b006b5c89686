import { accountsModule } from "./accounts/descriptor.ts";
import { createAccount, listAccounts, updateAccount } from "./accounts/index.ts";
import { agentsModule } from "./agents/descriptor.ts";
import { loadDescriptions, openApiDocument, serviceRoutes } from "./api/index.ts";
import { backlogModule } from "./backlog/descriptor.ts";
import { consentsModule } from "./consents/descriptor.ts";
import { contactsModule } from "./contacts/descriptor.ts";
import { conversationsModule } from "./conversations/descriptor.ts";
import { eventsModule } from "./events/descriptor.ts";
import type { AccountHandle, Accounts, EngineRuntime } from "./host/index.ts";
import type { Limits, Scope } from "./kernel/index.ts";
import { messagesModule } from "./messages/descriptor.ts";
import { observationsModule } from "./observations/descriptor.ts";
import { operationsModule } from "./operations/descriptor.ts";
import {
  command,
  commandByIdAndInput,
  list,
  type ApiRoute,
  type HandleMethod,
  type HookHandler,
  type Module,
  type ScopedRunner,
  type Tag,
} from "./operations/index.ts";
import { operatorsModule } from "./operators/descriptor.ts";
import { schemaOf, type Schema } from "./ports/index.ts";
import { privacyModule } from "./privacy/descriptor.ts";
import { queueModule } from "./queue/descriptor.ts";
import type { JobHandlers, JobKind, JobTable } from "./queue/index.ts";
import { sandboxModule } from "./sandbox/descriptor.ts";
import { sendersModule } from "./senders/descriptor.ts";
import { sentimentModule } from "./sentiment/descriptor.ts";
import { webchatModule } from "./webchat/descriptor.ts";
import { webhooksModule } from "./webhooks/descriptor.ts";

/** The modules of the engine, lowest first. Everything below is derived from their descriptors. */
const modules = [
  queueModule,
  operationsModule,
  eventsModule,
  accountsModule,
  operatorsModule,
  contactsModule,
  sendersModule,
  conversationsModule,
  consentsModule,
  messagesModule,
  observationsModule,
  sentimentModule,
  agentsModule,
  webchatModule,
  webhooksModule,
  backlogModule,
  sandboxModule,
  privacyModule,
] as const;

const descriptors: readonly Module[] = modules;

/** The storage schema: the collections of all modules. */
export const schema: Schema = schemaOf(descriptors.flatMap(({ collections = [] }) => collections));

/** The hook handlers of all modules. */
export const hookHandlers: readonly HookHandler[] = descriptors.flatMap(
  (module) => module.hookHandlers ?? [],
);

export const tags: readonly Tag[] = [
  ...descriptors.flatMap((module) => module.tags ?? []),
  { name: "Service", description: "Endpoints that need no API key." },
];

/** All routes of `/v1`. The OpenAPI document is built once, at the first request for it. */
export function apiRoutes(limits: Limits): readonly ApiRoute[] {
  let document: Promise<string> | undefined;
  const routes: readonly ApiRoute[] = [
    ...descriptors.flatMap((module) => module.routes ?? []),
    ...serviceRoutes(() => (document ??= written())),
  ];
  return routes;

  async function written(): Promise<string> {
    return JSON.stringify(openApiDocument(routes, tags, limits, await loadDescriptions()));
  }
}

type JobsOf<M> = M extends Module<infer Jobs> ? (jobs: Jobs) => void : never;
/** The jobs of all modules: the intersection of their tables. */
type AllJobs = JobsOf<(typeof modules)[number]> extends (jobs: infer Jobs) => void ? Jobs : never;

/** Does not compile if a kind of job has no definition, or needs what the runtime lacks. */
const jobTable: JobTable<EngineRuntime> = Object.assign(
  {},
  ...descriptors.map(({ jobs }) => jobs),
) as AllJobs;

/** Creates the job handlers of one engine. */
export function jobHandlers(runtime: EngineRuntime): JobHandlers {
  const handlers = Object.entries(jobTable).map(([kind, define]) => [kind, define(runtime)]);
  return Object.fromEntries(handlers) as { [K in JobKind]: JobHandlers[K] };
}

type HandlesOf<M> = M extends { readonly handles?: infer Handles }
  ? (handles: Handles) => void
  : never;
/** The methods of all modules: the intersection of their tables. */
type AllHandles =
  HandlesOf<(typeof modules)[number]> extends (handles: infer Handles) => void ? Handles : never;
type MethodsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends HandleMethod<infer Method>
    ? Method
    : MethodsOf<Table[Name]>;
};
/** The compiler compares the parameters of functions more strictly than those of methods. */
type WithFunctions<Handle> = {
  readonly [Name in keyof Handle]: Handle[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : WithFunctions<Handle[Name]>;
};

/** A method of the handles. `group` is `messages` in `messages.send`. */
interface DefinedMethod {
  readonly group: string | undefined;
  readonly name: string;
  readonly define: HandleMethod;
}

/** Listed once, because a host application may create a handle for each request. */
const methods: readonly DefinedMethod[] = descriptors
  .flatMap(({ handles = {} }) => Object.entries(handles))
  .flatMap(([key, entry]): DefinedMethod[] =>
    typeof entry === "function"
      ? [{ group: undefined, name: key, define: entry }]
      : Object.entries(entry).map(([name, define]) => ({ group: key, name, define })),
  );

/** Creates a handle. Several modules may add methods to one group. */
function createHandle(scope: Scope, runner: ScopedRunner): { readonly scope: Scope } {
  const own: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  for (const { group, name, define } of methods) {
    const target = group === undefined ? own : (groups[group] ??= {});
    target[name] = define(runner);
  }
  return { scope, ...own, ...groups };
}

/**
 * Creates a handle. Does not compile if a method of the public interface is missing, or if its
 * operation takes or returns something else.
 */
export function accountHandle(scope: Scope, runner: ScopedRunner): AccountHandle {
  type Created = ReturnType<typeof createHandle> & MethodsOf<AllHandles>;
  // The cast is safe: the table consists of the modules' tables.
  const handle: WithFunctions<AccountHandle> = createHandle(scope, runner) as Created;
  return withExactTypes(handle);
}

/** Creates the handle of the accounts themselves. `runner` is that of the default account. */
export function accountsHandle(runner: ScopedRunner): Accounts {
  return withExactTypes<Accounts>({
    create: command(createAccount)(runner),
    list: list(listAccounts)(runner),
    update: commandByIdAndInput(updateAccount)(runner),
  });
}

/**
 * `WithFunctions` shows a generic or overloaded method with its widest types. The casts are safe:
 * the methods of events return only events of the types that they were asked for, and a command
 * without an idempotency key is no replay, so its output has its secrets.
 */
function withExactTypes<Handle>(handle: WithFunctions<Handle>): Handle {
  return handle as Handle;
}
