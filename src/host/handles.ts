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

/** What every change takes beside its input. */
export interface CommandOptions {
  /** 1 to 255 visible ASCII characters. The same call under the same key is done once and answered the same. */
  readonly idempotencyKey?: string;
  /**
   * What `engine.transaction` gave you, or your own database handle with a transaction open on it: the change commits or vanishes with
   * yours. On SQLite a `node:sqlite` or better-sqlite3 handle of the same file. Handlers of `engine.on` don't hear of what you commit
   * yourself.
   */
  readonly tx?: object | undefined;
}

/** Of what takes several transactions, and so can't join yours. */
export type Keyed = Pick<CommandOptions, "idempotencyKey">;

type Changes<Input> = Omit<Input, "id">;

export interface Messages {
  /** Queues or schedules a message; it is handed over by a started engine on the same storage. */
  send(input: SendMessage, options?: CommandOptions): Promise<Message>;
  /** Up to 1,000 messages, each by itself; with a key, a call that was cut off goes on where it was. */
  batch(input: BatchMessages, options?: CommandOptions): Promise<BatchResults>;
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
   * @throws TidingsError `conflict` when another contact has the phone number, with that contact's id as `conflictingId`
   */
  create(input: CreateContact, options?: CommandOptions): Promise<Contact>;
  /** One that was merged is empty but for `merged_into`. */
  get(id: string): Promise<Contact>;
  /** The best first, by words, beginnings of words or the beginning of a phone number. One page: `next_cursor` is null. */
  search(query: SearchContacts): Promise<Page<Contact>>;
  /**
   * Makes and updates contacts by their phone numbers, as they are taken from `rows`, and reports on each; nothing happens before the
   * reports are read. Few rows are held at a time, so that there may be any number of them. Done again it changes nothing: what fails
   * half-way (the storage, `rows` itself) is thrown, and the whole import can be run again.
   *
   * ```ts
   * for await (const { index, status, errors } of engine.contacts.import(rows)) if (status === "failed") console.warn(index, errors);
   * ```
   */
  import(
    rows: Iterable<ImportContact> | AsyncIterable<ImportContact>,
  ): AsyncGenerator<ImportReport, ImportCounts>;
  /** Newest first. Merged contacts are not among them. */
  list(filters?: ListContacts): Promise<Page<Contact>>;
  /** What is absent stays as it is; null takes it away. A phone number that it gives up is nobody's. */
  update(id: string, changes: Changes<UpdateContact>, options?: CommandOptions): Promise<Contact>;
  /** Moves all that the other contact has to this one. Resolves when it has moved. */
  merge(id: string, otherId: string, options?: Keyed): Promise<Contact>;
  /**
   * Leaves nothing of a contact but counts, and what its addresses allow; nothing that is queued for it is sent. Resolves when nothing is
   * left.
   */
  erase(id: string, options?: Keyed): Promise<void>;
  /** The one that began last first. */
  conversations(id: string, page?: PageQuery): Promise<Page<Conversation>>;
  /** On all channels, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Newest first, without those that have expired. */
  observations(id: string, page?: PageQuery): Promise<Page<Observation>>;
  addObservation(
    id: string,
    input: Changes<AddObservation>,
    options?: CommandOptions,
  ): Promise<Observation>;
  removeObservation(id: string, observationId: string, options?: CommandOptions): Promise<void>;
  /** What each of its addresses allows, with the 50 newest pieces of evidence. */
  consents(id: string): Promise<Consents>;
  /**
   * Opts all its addresses on a medium in or out. Answers what they allow now, and of the evidence what this made.
   * @throws TidingsError `validation_failed` when it has none there
   */
  setConsent(
    id: string,
    medium: ConsentMedium,
    change: Omit<Changes<SetConsent>, "medium">,
    options?: CommandOptions,
  ): Promise<Consents>;
  /** How a contact feels by its own words, where that goes, and up to 20 messages that moved it, newest first. */
  sentiment(id: string): Promise<ContactSentiment>;
}

export interface Conversations {
  /** The contact's active one on the medium, where there is one; else a new one. */
  open(input: OpenConversation, options?: CommandOptions): Promise<Conversation>;
  get(id: string): Promise<Conversation>;
  /** The inbox: newest activity first; of one contact, in the order in which they began. */
  list(filters?: ListConversations): Promise<Page<Conversation>>;
  update(
    id: string,
    changes: Changes<UpdateConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  /** The thread, from its end. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Sends what a person writes, who takes the conversation over with it. */
  reply(id: string, input: Changes<Reply>, options?: CommandOptions): Promise<Message>;
  /** Newest first. */
  notes(id: string, page?: PageQuery): Promise<Page<Note>>;
  addNote(id: string, input: Changes<AddNote>, options?: CommandOptions): Promise<Note>;
  /** To a person, an agent, or nobody: null. */
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
  /** The secret is in the answer, this once. */
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
  /** Lets a visitor's browser in; the token for it is in the answer, this once. */
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
   * The secret is in the answer, this once.
   * @throws TidingsError `not_configured` where the engine has no option `http`
   */
  create(input: CreateWebhook, options?: CommandOptions): Promise<CreatedWebhook>;
  get(id: string): Promise<Webhook>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Webhook>>;
  update(id: string, changes: Changes<UpdateWebhook>, options?: CommandOptions): Promise<Webhook>;
  /** Its deliveries go with it, a little later. */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /** The old secret signs too for the grace time, a day by default. */
  rotateSecret(
    id: string,
    input?: { readonly grace_seconds?: number },
    options?: CommandOptions,
  ): Promise<CreatedWebhook>;
  /** Sends it a sample event, once, whatever its status. */
  test(id: string, input?: Changes<TestWebhook>, options?: CommandOptions): Promise<Delivery>;
  /** Newest first. */
  deliveries(id: string, filters?: Changes<ListDeliveries>): Promise<Page<Delivery>>;
  /** With what is sent, and every attempt. */
  delivery(id: string, deliveryId: string): Promise<DeliveryWithAttempts>;
  /** Once more, whatever became of it. */
  redeliver(id: string, deliveryId: string, options?: CommandOptions): Promise<Delivery>;
  /** Sends once more what failed and was made since then. Goes on after it resolves. */
  recover(
    id: string,
    input: { readonly since: string },
    options?: CommandOptions,
  ): Promise<Webhook>;
}

export interface Agents {
  /**
   * It answers what comes in from now on, unless it is made disabled.
   * @throws TidingsError `not_configured` where it is to be enabled and the engine has no option `agents`
   */
  create(input: CreateAgent, options?: CommandOptions): Promise<Agent>;
  get(id: string): Promise<Agent>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Agent>>;
  /** What is absent stays, also within parts; null takes away. Conversations that it has go on with the version that they began with. */
  update(id: string, changes: Changes<UpdateAgent>, options?: CommandOptions): Promise<Agent>;
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Has it run a playbook or an action. Resolves when that is ordered; how it comes out, the run tells.
   * @throws TidingsError `conflict` where people or another agent have the conversation, and where it is closed
   */
  trigger(id: string, input: Changes<TriggerAgent>, options?: CommandOptions): Promise<Run>;
  /** Newest first. */
  runs(id: string, filters?: Changes<ListRuns>): Promise<Page<Run>>;
  run(id: string, runId: string): Promise<Run>;
  /**
   * Decides about an action that waits for it.
   * @throws TidingsError `conflict` where none does, any more or yet
   */
  approve(
    id: string,
    runId: string,
    decision: Omit<Changes<ApproveRun>, "run_id">,
    options?: CommandOptions,
  ): Promise<Run>;
}

export interface Playbooks {
  /** Disabled unless it is said otherwise: its steps are checked as a whole when it is enabled. */
  create(input: CreatePlaybook, options?: CommandOptions): Promise<Playbook>;
  get(id: string): Promise<Playbook>;
  /** Newest first. */
  list(page?: PageQuery): Promise<Page<Playbook>>;
  /** What is absent stays. Who is in the middle of it goes on with the version that they began with. */
  update(id: string, changes: Changes<UpdatePlaybook>, options?: CommandOptions): Promise<Playbook>;
  /** @throws TidingsError `conflict` while an agent has it, or another playbook calls it, with that one's id as `conflictingId` */
  remove(id: string, options?: CommandOptions): Promise<void>;
}

/** A test bench; in the sandbox only. */
export interface Sandbox {
  /** The test numbers, and what each does. */
  numbers(): Promise<SandboxNumbers>;
  inbound(input: SandboxInbound, options?: CommandOptions): Promise<Message>;
  receipts(
    id: string,
    receipts: SandboxReceipts["receipts"],
    options?: CommandOptions,
  ): Promise<Message>;
  /** Tells handlers, streams and webhooks of a sample event. */
  event(input: SandboxEvent, options?: CommandOptions): Promise<AnyEvent>;
  seed(options?: CommandOptions): Promise<SandboxSeedResult>;
  reset(options?: CommandOptions): Promise<SandboxResetResult>;
}

export interface Accounts {
  /** Makes an account with its sandbox, and a first sandbox key whose secret is in the answer, this once. */
  create(input: CreateAccount, options?: CommandOptions): Promise<CreatedAccount>;
}

/** One account in one mode, in process: what its API keys can do over HTTP, and as the same operations. */
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
