export type { StopOptions } from "./engine.ts";
export type { Consumer } from "./events/consumers.ts";
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
} from "./host/handles.ts";
export { defaultLimits } from "./kernel/limits.ts";
export type { Limits } from "./kernel/limits.ts";
export type { ConsentOptions, QuietHours } from "./operations/consent-settings.ts";
export type { WebchatOptions } from "./webchat/options.ts";
export type { HttpOptions, WebhookOptions } from "./webhooks/options.ts";
export type { AgentOptions } from "./agents/options.ts";
export type { EngineOptions } from "./host/options.ts";
export { ReplayedError, TidingsError } from "./kernel/errors.ts";
export type { ErrorCode, FieldError, FieldPlace } from "./kernel/errors.ts";
export type { Mode, Scope } from "./kernel/scope.ts";
export type { EventHandler, Event, EventMap, ConsumerHandler } from "./webhooks/event-catalog.ts";
export type { ApiHandler, ApiRequest, ApiResponse } from "./api/http.ts";
export type { Problem } from "./kernel/problem.ts";

export type { Account, CreateAccount, CreatedAccount, Plan } from "./accounts/types.ts";
export type {
  Agent,
  ApproveRun,
  CreateAgent,
  HandoffCause,
  HandoffRule,
  ListRuns,
  TriggerAgent,
  UpdateAgent,
} from "./agents/types.ts";
export type { Consent, ConsentMedium, Consents, SetConsent } from "./contacts/consent-types.ts";
export type { ConsumeOptions, ConsumerContext, ParkedEvent } from "./events/consumer-types.ts";
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
} from "./contacts/types.ts";
export type {
  Reply,
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
} from "./messages/types.ts";
export type {
  AddNote,
  AssignConversation,
  Conversation,
  HandOffConversation,
  ListConversations,
  Note,
  OpenConversation,
  UpdateConversation,
} from "./conversations/types.ts";
export type { EventType, ListEvents } from "./events/types.ts";
export type { Page, PageQuery } from "./kernel/fields.ts";
export type { ApiKey, CreatedKey, CreateKey, KeyScope } from "./accounts/key-types.ts";
export type { AddObservation, Observation } from "./observations/types.ts";
export type { ContactSentiment, Sentiment, SentimentLabel } from "./contacts/sentiment-types.ts";
export type {
  CreatePlaybook,
  Playbook,
  PlaybookStep,
  Slot,
  UpdatePlaybook,
} from "./agents/playbooks/types.ts";
export type { Run, RunStatus, RunStep } from "./agents/runs/types.ts";
export type { PolicyVerdict } from "./consents/policy-types.ts";
export type { CreateSender, Sender, UpdateSender } from "./senders/types.ts";
export type { Timeline, TimelineEntry } from "./messages/timeline-types.ts";
export type { OpenWebchatSession, WebchatMessage, WebchatSession } from "./webchat/types.ts";
export type {
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  ListDeliveries,
  UpdateWebhook,
  Webhook,
} from "./webhooks/types.ts";
export type { GetUsage, Usage } from "./accounts/usage-types.ts";

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
export type { DateContext, Language, Passage, RankedPassage } from "./ports/language.ts";
export type { Logger } from "./ports/logger.ts";
export type { Random } from "./ports/random.ts";
export type { Route } from "./ports/route.ts";
export type { SentimentAnalyzer } from "./ports/sentiment.ts";
export type { StorageCapabilities, StoragePort } from "./ports/storage.ts";
export { destinations, publicOnly } from "./ports/destinations.ts";
export type { DestinationOptions, Destinations } from "./ports/destinations.ts";
export type * from "./ports/http-client.ts";
export type * from "./ports/transport.ts";
