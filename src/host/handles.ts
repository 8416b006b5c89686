import type { AnyEvent, ListEvents } from "../events/index.ts";
import type {
  Account,
  ApiKey,
  CreateAccount,
  CreatedAccount,
  CreatedKey,
  CreateKey,
  GetUsage,
  Usage,
} from "../accounts/index.ts";
import type {
  Agent,
  ApproveRun,
  CreateAgent,
  CreatePlaybook,
  ListRuns,
  Playbook,
  Run,
  TriggerAgent,
  UpdateAgent,
  UpdatePlaybook,
} from "../agents/index.ts";
import type {
  ConsentMedium,
  Consents,
  Contact,
  ContactSentiment,
  CreateContact,
  ImportContact,
  ImportCounts,
  ImportReport,
  ListContacts,
  SearchContacts,
  SetConsent,
  UpdateContact,
} from "../contacts/index.ts";
import type {
  BatchMessages,
  BatchResults,
  EditMessage,
  ListMessages,
  Message,
  MessagePreview,
  PreviewMessage,
  Reply,
  SendMessage,
  Timeline,
} from "../messages/index.ts";
import type {
  AddNote,
  AssignConversation,
  Conversation,
  HandOffConversation,
  ListConversations,
  Note,
  OpenConversation,
  UpdateConversation,
} from "../conversations/index.ts";
import type {
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  DeliveryWithAttempts,
  Event,
  ListDeliveries,
  TestWebhook,
  UpdateWebhook,
  Webhook,
} from "../webhooks/index.ts";
import type { AddObservation, Observation } from "../observations/index.ts";
import type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "../sandbox/index.ts";
import type { CreateSender, Sender, UpdateSender } from "../senders/index.ts";
import type { OpenWebchatSession, WebchatSession } from "../webchat/index.ts";
import type { Page, PageQuery, Scope } from "../kernel/index.ts";
import type { CommandOptions } from "../operations/index.ts";

/** Options of an operation that uses several transactions and so cannot join yours. */
type Keyed = Pick<CommandOptions, "idempotencyKey">;

type Changes<Input> = Omit<Input, "id">;

export interface Messages {
  /** Queues or schedules a message. A started engine on the same storage sends it. */
  send(input: SendMessage, options?: CommandOptions): Promise<Message>;
  /**
   * Sends up to 1,000 messages. Each succeeds or fails separately. With an idempotency key, a
   * repeated call continues an interrupted batch.
   */
  batch(input: BatchMessages, options?: Keyed): Promise<BatchResults>;
  preview(input: PreviewMessage): Promise<MessagePreview>;
  get(id: string): Promise<Message>;
  /** Newest first. */
  list(filters?: ListMessages): Promise<Page<Message>>;
  timeline(id: string): Promise<Timeline>;
  edit(id: string, changes: Changes<EditMessage>, options?: CommandOptions): Promise<Message>;
  cancel(id: string, options?: CommandOptions): Promise<Message>;
  redact(id: string, options?: CommandOptions): Promise<Message>;
}

export interface Contacts {
  /**
   * @throws TidingsError `conflict` when another contact has the phone number. `conflictingId` is
   *   the id of that contact.
   */
  create(input: CreateContact, options?: CommandOptions): Promise<Contact>;
  /** A merged contact has no data except `merged_into`. */
  get(id: string): Promise<Contact>;
  /**
   * Searches by words, word prefixes or the start of a phone number. Best matches come first.
   * Returns one page: `next_cursor` is null.
   */
  search(query: SearchContacts): Promise<Page<Contact>>;
  /**
   * Creates or updates contacts by phone number and yields a report for each row. Nothing happens
   * before you read the reports. Only a few rows are in memory at a time, so `rows` may be of any
   * length. Errors of the storage or of `rows` are thrown. A repeated import changes nothing twice.
   *
   * ```ts
   * for await (const { index, status, errors } of engine.contacts.import(rows)) {
   *   if (status === "failed") console.warn(index, errors);
   * }
   * ```
   */
  import(
    rows: Iterable<ImportContact> | AsyncIterable<ImportContact>,
  ): AsyncGenerator<ImportReport, ImportCounts>;
  /** Newest first, without merged contacts. */
  list(filters?: ListContacts): Promise<Page<Contact>>;
  /**
   * Absent fields keep their value, and null clears them. A phone number that is cleared belongs to
   * no contact.
   */
  update(id: string, changes: Changes<UpdateContact>, options?: CommandOptions): Promise<Contact>;
  /** Moves everything from the other contact to this one. Resolves when the merge is complete. */
  merge(id: string, otherId: string, options?: Keyed): Promise<Contact>;
  /**
   * Erases the contact. Only counts and the consents of its addresses remain. Messages that are
   * still queued for it are not sent. Resolves when the erasure is complete.
   */
  erase(id: string, options?: Keyed): Promise<void>;
  /** Newest first. */
  conversations(id: string, page?: PageQuery): Promise<Page<Conversation>>;
  /** Messages on all channels, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Newest first. Expired observations are left out. */
  observations(id: string, page?: PageQuery): Promise<Page<Observation>>;
  addObservation(
    id: string,
    input: Changes<AddObservation>,
    options?: CommandOptions,
  ): Promise<Observation>;
  removeObservation(id: string, observationId: string, options?: CommandOptions): Promise<void>;
  /** Consent of each address, with the 50 newest pieces of evidence. */
  consents(id: string): Promise<Consents>;
  /**
   * Opts all addresses of the contact on a medium in or out. Returns the new consents, with only
   * the evidence that this call added.
   * @throws TidingsError `validation_failed` when the contact has no address on the medium
   */
  setConsent(
    id: string,
    medium: ConsentMedium,
    change: Omit<Changes<SetConsent>, "medium">,
    options?: CommandOptions,
  ): Promise<Consents>;
  /** The contact's sentiment and trend, with up to 20 messages that changed it, newest first. */
  sentiment(id: string): Promise<ContactSentiment>;
}

export interface Conversations {
  /** Returns the contact's active conversation on the medium, or creates one. */
  open(input: OpenConversation, options?: CommandOptions): Promise<Conversation>;
  get(id: string): Promise<Conversation>;
  /** Lists the inbox, latest activity first. With a contact filter, the order is by creation. */
  list(filters?: ListConversations): Promise<Page<Conversation>>;
  update(
    id: string,
    changes: Changes<UpdateConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  /** Messages of the conversation, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Sends a message from a person. That person takes over the conversation. */
  reply(id: string, input: Changes<Reply>, options?: CommandOptions): Promise<Message>;
  /** Newest first. */
  notes(id: string, page?: PageQuery): Promise<Page<Note>>;
  addNote(id: string, input: Changes<AddNote>, options?: CommandOptions): Promise<Note>;
  /** Assigns the conversation to a person or an agent. Null removes the assignment. */
  assign(
    id: string,
    assignee: AssignConversation["assignee"],
    options?: CommandOptions,
  ): Promise<Conversation>;
  setLabels(id: string, labels: readonly string[], options?: CommandOptions): Promise<Conversation>;
  markRead(id: string, options?: CommandOptions): Promise<Conversation>;
  handOff(
    id: string,
    input: Changes<HandOffConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  handBack(id: string, options?: CommandOptions): Promise<Conversation>;
}

export interface ApiKeys {
  /** Only this call returns the secret. */
  create(input: CreateKey, options?: CommandOptions): Promise<CreatedKey>;
  list(page?: PageQuery): Promise<Page<ApiKey>>;
  rotate(
    id: string,
    input?: { readonly grace_seconds?: number },
    options?: CommandOptions,
  ): Promise<CreatedKey>;
  revoke(id: string, options?: CommandOptions): Promise<void>;
}

export interface Webchat {
  /** Opens a session for a visitor's browser. Only this call returns the token. */
  open(input?: OpenWebchatSession, options?: CommandOptions): Promise<WebchatSession>;
}

export interface Senders {
  create(input: CreateSender, options?: CommandOptions): Promise<Sender>;
  list(page?: PageQuery): Promise<Page<Sender>>;
  update(id: string, changes: Changes<UpdateSender>, options?: CommandOptions): Promise<Sender>;
  remove(id: string, options?: CommandOptions): Promise<void>;
}

export interface Events {
  get(id: string): Promise<Event>;
  /** Newest first. */
  list(filters?: ListEvents): Promise<Page<Event>>;
}

export interface Webhooks {
  /**
   * Only this call returns the secret.
   * @throws TidingsError `not_configured` when the engine has no option `http`
   */
  create(input: CreateWebhook, options?: CommandOptions): Promise<CreatedWebhook>;
  get(id: string): Promise<Webhook>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Webhook>>;
  update(id: string, changes: Changes<UpdateWebhook>, options?: CommandOptions): Promise<Webhook>;
  /** Removes the webhook. Its deliveries are removed in the background. */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /** Creates a new secret. The old secret also signs during the grace time, 24 hours by default. */
  rotateSecret(
    id: string,
    input?: { readonly grace_seconds?: number },
    options?: CommandOptions,
  ): Promise<CreatedWebhook>;
  /** Sends one sample event, whatever the webhook's status. */
  test(id: string, input?: Changes<TestWebhook>, options?: CommandOptions): Promise<Delivery>;
  /** Newest first. */
  deliveries(id: string, filters?: Changes<ListDeliveries>): Promise<Page<Delivery>>;
  /** The delivery with its body and all attempts. */
  delivery(id: string, deliveryId: string): Promise<DeliveryWithAttempts>;
  /** Sends the delivery again, whatever its status. */
  redeliver(id: string, deliveryId: string, options?: CommandOptions): Promise<Delivery>;
  /**
   * Sends all failed deliveries created since that time again. Continues after the call resolves.
   */
  recover(
    id: string,
    input: { readonly since: string },
    options?: CommandOptions,
  ): Promise<Webhook>;
}

export interface Agents {
  /**
   * Creates an agent. It answers new inbound messages unless it is created disabled.
   * @throws TidingsError `not_configured` when it is enabled and the engine has no option `agents`
   */
  create(input: CreateAgent, options?: CommandOptions): Promise<Agent>;
  get(id: string): Promise<Agent>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Agent>>;
  /**
   * Absent fields keep their value, also in nested objects, and null clears them. Conversations
   * that the agent already has continue with the version they started with.
   */
  update(id: string, changes: Changes<UpdateAgent>, options?: CommandOptions): Promise<Agent>;
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Starts a playbook or calls one action in a conversation. Resolves with the run when it is
   * queued. A conversation without a handler is assigned to the agent.
   * @throws TidingsError `conflict` when the agent or the playbook is disabled, when the
   *   conversation is closed or another agent has it, and for a playbook also when people have it
   */
  trigger(id: string, input: Changes<TriggerAgent>, options?: CommandOptions): Promise<Run>;
  /** Newest first. */
  runs(id: string, filters?: Changes<ListRuns>): Promise<Page<Run>>;
  run(id: string, runId: string): Promise<Run>;
  /**
   * Approves or denies an action that waits for approval.
   * @throws TidingsError `conflict` when the run waits for no approval
   */
  approve(
    id: string,
    runId: string,
    decision: Omit<Changes<ApproveRun>, "run_id">,
    options?: CommandOptions,
  ): Promise<Run>;
}

export interface Playbooks {
  /** Creates a playbook, disabled by default. All its steps are checked when it is enabled. */
  create(input: CreatePlaybook, options?: CommandOptions): Promise<Playbook>;
  get(id: string): Promise<Playbook>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Playbook>>;
  /**
   * Absent fields keep their value. Runs in progress continue with the version they started with.
   */
  update(id: string, changes: Changes<UpdatePlaybook>, options?: CommandOptions): Promise<Playbook>;
  /**
   * @throws TidingsError `conflict` when an agent uses it or another playbook calls it.
   *   `conflictingId` is the id of that agent or playbook.
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}

/** Simulation tools. They work only in the sandbox. */
export interface Sandbox {
  /** Lists the test numbers and how each behaves. */
  numbers(): Promise<SandboxNumbers>;
  inbound(input: SandboxInbound, options?: CommandOptions): Promise<Message>;
  receipts(
    id: string,
    receipts: SandboxReceipts["receipts"],
    options?: CommandOptions,
  ): Promise<Message>;
  /** Publishes a sample event to handlers, streams and webhooks. */
  event(input: SandboxEvent, options?: CommandOptions): Promise<AnyEvent>;
  seed(options?: CommandOptions): Promise<SandboxSeedResult>;
  reset(options?: Keyed): Promise<SandboxResetResult>;
}

export interface Accounts {
  /**
   * Creates an account with its sandbox and a first sandbox key. Only this call returns the key's
   * secret.
   */
  create(input: CreateAccount, options?: CommandOptions): Promise<CreatedAccount>;
}

/** The operations on one account in one mode. */
export interface AccountHandle {
  readonly scope: Scope;
  readonly messages: Messages;
  readonly conversations: Conversations;
  readonly contacts: Contacts;
  readonly apiKeys: ApiKeys;
  readonly webchat: Webchat;
  readonly senders: Senders;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly agents: Agents;
  readonly playbooks: Playbooks;
  readonly sandbox: Sandbox;
  get(): Promise<Account>;
  usage(days?: GetUsage): Promise<Usage>;
}
