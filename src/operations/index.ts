export { type Guarded, isGuarded, type Method, type Route } from "./api-route.ts";
export {
  type ConsentOptions,
  type ConsentSettings,
  type QuietHours,
  standardConsent,
} from "./consent-settings.ts";
export { operationsModule } from "./descriptor.ts";
export { eraseAnswers } from "./erase-answers.ts";
export { type Context, Executor } from "./executor.ts";
export { canonicalJson } from "./fingerprint.ts";
export { defineHook, type Hook, type HookHandler, onHook, runHook } from "./hooks.ts";
export { HostPolicies } from "./host-policies.ts";
export {
  checkedKey,
  type IdempotencyKey,
  idempotencyKeyOf,
  isIdempotencyKey,
  storedKey,
} from "./idempotency-key.ts";
export { isRemembered } from "./idempotency-lifetime.ts";
export {
  idempotency,
  idempotencyAlsoShowing,
  idempotencyByExpiry,
  idempotencyByKey,
} from "./idempotency-rows.ts";
export type { Module, Tag } from "./module.ts";
export {
  type Call,
  type Caller,
  type Command,
  type EventStream,
  inputSchema,
  type KeyCaller,
  type News,
  type Outcome,
  type Procedure,
  type Query,
  type RowProcedure,
  type Services,
  showsOutput,
  type Steps,
  type StreamEvent,
  type StreamSources,
  type VisitorCaller,
} from "./operation.ts";
export { mapPage, type OwnWalk, page, pageOf, type Walk } from "./pagination.ts";
export { rateLimiter } from "./rate-limiter.ts";
export type { Runtime } from "./runtime.ts";
export type { Activity, ContactActivity } from "./contact-activity.ts";
