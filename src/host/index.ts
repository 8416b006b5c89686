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
export type { Contacts } from "./contact-handles.ts";
export type { Conversations, Webchat } from "./conversation-handles.ts";
export type { Messages, Senders } from "./message-handles.ts";
export type { AccountOptions, Defaults, EngineOptions, Settings, StopOptions } from "./options.ts";
export { settingsOf } from "./settings.ts";
export { accountMode, checkAccountId, checkTransaction, stopDeadline } from "./method-arguments.ts";
