export { type Guarded, isGuarded, type Method, type ApiRoute, type Service } from "./api-route.ts";
export {
  type ConsentOptions,
  type ConsentSettings,
  type QuietHours,
  standardConsent,
} from "./consent-settings.ts";
export { type Context, Executor } from "./executor.ts";
export { type KeyScope, keyScopes, missingScopes } from "./key-scopes.ts";
export {
  command,
  commandById,
  commandByIdAndInput,
  type HandleMethod,
  type HandleTable,
  method,
  query,
  queryById,
  queryByIdAndInput,
} from "./handle-methods.ts";
export { defineHook, type Hook, onHook, runHook } from "./hooks.ts";
export { HostPolicies } from "./host-policies.ts";
export {
  canonicalJson,
  checkedKey,
  eraseStoredResponses,
  idempotency,
  idempotencyAlsoShowing,
  idempotencyByExpiry,
  idempotencyByKey,
  type IdempotencyKey,
  idempotencyKeyOf,
  isIdempotencyKey,
  isRemembered,
  storedKey,
} from "./idempotency.ts";
export type { Module, Tag } from "./module.ts";
export {
  type Call,
  type Caller,
  type Command,
  type EventStream,
  inputSchema,
  type KeyCaller,
  type Notifications,
  type Outcome,
  type Procedure,
  type Query,
  type RowProcedure,
  showsOutput,
  type Steps,
  type StreamEvent,
  type StreamSources,
  type VisitorCaller,
} from "./operation.ts";
export { mapPage, type ScanList, page, pageOf, type RangeList } from "./pagination.ts";
export { type RateLimiter, rateLimiter } from "./rate-limiter.ts";
export type { Activity, ContactActivity, HookHandler, Runtime, Services } from "./runtime.ts";
export { freeOrdinal } from "./free-ordinal.ts";
export type { Changes, CommandOptions, Keyed, ScopedRunner } from "./scoped-runner.ts";
