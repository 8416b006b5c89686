export { handleFactory, OperationRunner, type Prepared } from "./operation-runner.ts";
export type { EngineRuntime } from "./engine-runtime.ts";
export { Lifecycle } from "./lifecycle.ts";
export type {
  AccountHandle,
  Accounts,
  ApiKeys,
  Events,
  Operators,
  Sandbox,
  Webhooks,
} from "./handles.ts";
export type { Agents, Playbooks } from "./agent-handles.ts";
export type { Contacts, Conversations, Messages, Senders, Webchat } from "./messaging-handles.ts";
export type { AccountOptions, Defaults, EngineOptions, Settings, StopOptions } from "./options.ts";
export {
  accountMode,
  checkAccountId,
  checkTransaction,
  settingsOf,
  stopDeadline,
} from "./settings.ts";
