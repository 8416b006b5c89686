export { action, type Action, type ActionContext } from "./actions.ts";
export { OperationRunner } from "./operation-runner.ts";
export type { EngineRuntime } from "./engine-runtime.ts";
export { Lifecycle } from "./lifecycle.ts";
export type {
  AccountHandle,
  Accounts,
  ApiKeys,
  CreatedAccountWithSecret,
  Operators,
  Sandbox,
} from "./handles/handles.ts";
export type { Events, Webhooks } from "./handles/event-handles.ts";
export type {
  ConsumerContext,
  ConsumerHandler,
  EventContext,
  EventHandler,
} from "./handles/event-handlers.ts";
export type { Agents, Playbooks, Runs } from "./handles/agent-handles.ts";
export type { Contacts } from "./handles/contact-handles.ts";
export type { Conversations, Webchat } from "./handles/conversation-handles.ts";
export type { Messages, Senders } from "./handles/message-handles.ts";
export type {
  AccountOptions,
  AgentOptions,
  Defaults,
  EngineOptions,
  Settings,
  StopOptions,
} from "./options/options.ts";
export { settingsOf } from "./options/settings.ts";
export {
  accountMode,
  checkAccountId,
  checkSchemaVersion,
  checkTransaction,
  stopDeadline,
} from "./options/method-arguments.ts";
