export { type ApiRoute, type Guarded, isGuarded, type Method, takesKey } from "./api-route.ts";
export { type Health, type HealthReason, healthSchema } from "./health.ts";
export {
  answerText,
  type ConsentOptions,
  type ConsentSettings,
  type QuietHours,
  quietHoursSchema,
  standardConsent,
  timeOfDay,
} from "./consent-options.ts";
export { HostPolicies } from "./execution/host-policies.ts";
export { Executor, type Prepared } from "./execution/executor.ts";
export type {
  EventStream,
  LiveItem,
  LiveSubscription,
  Mailbox,
  OpenSources,
  StreamEvent,
  StreamFilter,
  StreamItem,
  StreamPlace,
  StreamSources,
  TransientItem,
} from "./event-stream.ts";
export {
  authorOf,
  type Caller,
  type KeyCaller,
  type KeyScope,
  keyScopes,
  missingScopes,
  type OperatorProfile,
  personOf,
  scopesOf,
  type VisitorCaller,
} from "./caller.ts";
export {
  type Call,
  type Change,
  type CheckCall,
  type Command,
  type Context,
  inputSchema,
  type ItemSteps,
  type Outcome,
  type Procedure,
  type Query,
  type RowProcedure,
  showsNothing,
  showsOutput,
  type SignalOperation,
  type Steps,
} from "./operation.ts";
export {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  type HandleMethod,
  type KeyOptions,
  inputWith,
  list,
  listById,
  method,
  pagePromise,
  type PagePromise,
  query,
  queryById,
  queryByIdAndInput,
  type ScopedRunner,
  type StreamOptions,
  type TxOptions,
  type WithSecrets,
} from "./handle-methods.ts";
export { defineHook, type Hook, onHook, runHook } from "./hooks.ts";
export type { Module, Tag } from "./module.ts";
export {
  checkedKey,
  describeWrongKey,
  idempotencyKeyOf,
  isIdempotencyKey,
  storedKey,
  validKey,
} from "./execution/idempotency-key.ts";
export { eraseStoredResponses, isRemembered } from "./execution/idempotency.ts";
export { canonicalJson, hasChanges } from "./canonical-json.ts";
export {
  idempotency,
  type IdempotencyRow,
  idempotencyByExpiry,
  idempotencyByKey,
} from "./execution/rows.ts";
export { findByWords } from "./lists/find-by-words.ts";
export { queryWords, storedWords, wordsOf } from "./lists/indexed-words.ts";
export { createdBetween } from "./lists/created-between.ts";
export {
  listQuery,
  mapPage,
  type ScanList,
  page,
  pageOf,
  shownPage,
  type RangeList,
} from "./lists/pagination.ts";
export { admit, type RateLimiter, rateLimiter, slidingLog } from "./rate-limiter.ts";
export {
  type Activity,
  type ContactActivity,
  type HistoryChunks,
  type HookHandler,
  type Runtime,
  type Services,
  standardHistoryChunks,
} from "./runtime.ts";
export { carries, type FactsByTransport, readTransportFacts } from "./transport-facts.ts";
export type { SignalFilter, Signals, SignalSubscription, TypingSignal } from "./signals.ts";
export { freeOrdinal } from "./free-ordinal.ts";
