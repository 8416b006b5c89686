export { accountHandle } from "./account-handle.ts";
export { engineRuntime, type EngineRuntime, startWork, type Work } from "./background-work.ts";
export type {
  AccountHandle,
  Accounts,
  Agents,
  ApiKeys,
  CommandOptions,
  Contacts,
  Conversations,
  Events,
  Messages,
  Playbooks,
  Sandbox,
  Senders,
  Webchat,
  Webhooks,
} from "./handles.ts";
export type { DefaultPorts, EngineOptions, Settings } from "./options.ts";
export { OperationRunner, type Prepared } from "./operation-runner.ts";
export { settingsOf } from "./settings.ts";
