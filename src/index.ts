export { MessagingEngine } from "./engine.ts";
export type { StopOptions } from "./engine.ts";
export type { Consumer } from "./consumers.ts";
export type {
  Accounts,
  AccountHandle,
  Agents,
  ApiKeys,
  CommandOptions,
  Conversations,
  Contacts,
  Events,
  Messages,
  Playbooks,
  Sandbox,
  Senders,
  Webchat,
  Webhooks,
} from "./account-handle.ts";
export { defaultLimits } from "./options.ts";
export type {
  AgentOptions,
  ConsentOptions,
  EngineOptions,
  HttpOptions,
  Limits,
  QuietHours,
  WebchatOptions,
  WebhookOptions,
} from "./options.ts";
export { ReplayedError, TidingsError } from "./errors.ts";
export type { ErrorCode, FieldError, FieldPlace } from "./errors.ts";
export type { Mode, Scope } from "./scope.ts";
export type { EventHandler } from "./events/bus.ts";
export type { ApiHandler, ApiRequest, ApiResponse } from "./api/http.ts";
export type { Problem } from "./problem.ts";

export type { Account, CreateAccount, CreatedAccount, Plan } from "./domain/accounts/types.ts";
export type {
  Agent,
  ApproveRun,
  CreateAgent,
  HandoffCause,
  HandoffRule,
  ListRuns,
  TriggerAgent,
  UpdateAgent,
} from "./domain/agents/types.ts";
export type { Consent, ConsentMedium, Consents, SetConsent } from "./domain/consents/types.ts";
export type {
  ConsumeOptions,
  ConsumerContext,
  ConsumerHandler,
  ParkedEvent,
} from "./domain/consumers/types.ts";
export type {
  Contact,
  ContactReference,
  CreateContact,
  Identity,
  ImportContact,
  ImportCounts,
  ImportReport,
  ListContacts,
  SearchContacts,
  UpdateContact,
} from "./domain/contacts/types.ts";
export type {
  AddNote,
  AssignConversation,
  Conversation,
  HandOffConversation,
  ListConversations,
  Note,
  OpenConversation,
  Reply,
  UpdateConversation,
} from "./domain/conversations/types.ts";
export type { Event, EventMap, EventType, ListEvents } from "./domain/events/types.ts";
export type { Page, PageQuery } from "./fields.ts";
export type { ApiKey, CreatedKey, CreateKey, KeyScope } from "./domain/keys/types.ts";
export type {
  BatchMessages,
  BatchResult,
  BatchResults,
  EditMessage,
  ListMessages,
  Message,
  MessageError,
  MessagePreview,
  MessageStatus,
  PreviewMessage,
  Segments,
  SendMessage,
} from "./domain/messages/types.ts";
export type { AddObservation, Observation } from "./domain/observations/types.ts";
export type { ContactSentiment, Sentiment, SentimentLabel } from "./domain/sentiment/types.ts";
export type {
  CreatePlaybook,
  Playbook,
  PlaybookStep,
  Slot,
  UpdatePlaybook,
} from "./domain/playbooks/types.ts";
export type { Run, RunStatus, RunStep } from "./domain/runs/types.ts";
export type { PolicyVerdict } from "./domain/policies/types.ts";
export type { CreateSender, Sender, UpdateSender } from "./domain/senders/types.ts";
export type { Timeline, TimelineEntry } from "./domain/timeline/types.ts";
export type { OpenWebchatSession, WebchatMessage, WebchatSession } from "./domain/webchat/types.ts";
export type {
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  ListDeliveries,
  UpdateWebhook,
  Webhook,
} from "./domain/webhooks/types.ts";
export type { GetUsage, Usage } from "./domain/usage/types.ts";

export type { Policy, PolicyFacts, Verdict } from "./ports/policy.ts";
export { action } from "./ports/action.ts";
export type {
  Action,
  ActionContext,
  ActionSchema,
  SchemaIssue,
  SchemaResult,
} from "./ports/action.ts";
export type * from "./ports/agent-model.ts";
export type { Clock } from "./ports/clock.ts";
export type { Logger } from "./ports/logger.ts";
export type { Random } from "./ports/random.ts";
export type { Route } from "./ports/route.ts";
export type { SentimentAnalyzer } from "./ports/sentiment.ts";
export type { StorageCapabilities, StoragePort } from "./ports/storage.ts";
export { destinations, publicOnly } from "./destinations/destinations.ts";
export type { DestinationOptions, Destinations } from "./destinations/destinations.ts";
export type * from "./ports/http-client.ts";
export type * from "./ports/transport.ts";
