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

/** Messages: send, schedule, change and read them. */
export interface Messages {
  /**
   * Queues or schedules a message. A started engine on the same storage sends it. Resolves when the
   * message is stored.
   * @throws TidingsError `validation_failed`; `no_sender` when no sender of the account fits;
   *   `recipient_opted_out`; `policy_denied`
   */
  send(input: SendMessage, options?: CommandOptions): Promise<Message>;
  /**
   * Sends up to 1,000 messages. Each succeeds or fails separately. With an idempotency key, a
   * repeated call continues an interrupted batch.
   */
  batch(input: BatchMessages, options?: Keyed): Promise<BatchResults>;
  /**
   * Returns what `send` would do with this input: the channel, the sender, the segments and each
   * policy's verdict. Sends and stores nothing.
   */
  preview(input: PreviewMessage): Promise<MessagePreview>;
  /**
   * Returns a message.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Message>;
  /** Lists messages, newest first. */
  list(filters?: ListMessages): Promise<Page<Message>>;
  /**
   * Returns everything that happened to a message, oldest first: changes of its status, attempts,
   * receipts, look-ups, edits and denials.
   * @throws TidingsError `not_found`
   */
  timeline(id: string): Promise<Timeline>;
  /**
   * Changes the content or the time of a scheduled message. Absent fields keep their value.
   * @throws TidingsError `not_editable` when the message is not scheduled; `recipient_opted_out`;
   *   `policy_denied`
   */
  edit(id: string, changes: Changes<EditMessage>, options?: CommandOptions): Promise<Message>;
  /**
   * Cancels a scheduled or queued message. A canceled message is never sent.
   * @throws TidingsError `not_cancelable` when the message has another status
   */
  cancel(id: string, options?: CommandOptions): Promise<Message>;
  /**
   * Permanently removes the text and media of a message, also from its events, webhook deliveries,
   * stored responses and agent runs. Its status and timeline stay.
   * @throws TidingsError `conflict` while the message waits or is being sent, or while an agent's
   *   run that may quote it goes on
   */
  redact(id: string, options?: CommandOptions): Promise<Message>;
}

/** Contacts, with their addresses, consents, observations and sentiment. */
export interface Contacts {
  /**
   * Creates a contact. It needs a phone number, an email address or a name.
   * @throws TidingsError `conflict` when another contact has the phone number. `conflictingId` is
   *   the id of that contact.
   */
  create(input: CreateContact, options?: CommandOptions): Promise<Contact>;
  /**
   * Returns a contact. A merged contact has no data except `merged_into`.
   * @throws TidingsError `not_found`
   */
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
  /** Lists contacts, newest first, without merged contacts. */
  list(filters?: ListContacts): Promise<Page<Contact>>;
  /**
   * Changes a contact. Absent fields keep their value, and null clears them. A phone number that is
   * cleared belongs to no contact.
   * @throws TidingsError `conflict` when another contact has the phone number, or when the contact
   *   was merged. `conflictingId` is the id of the other contact.
   */
  update(id: string, changes: Changes<UpdateContact>, options?: CommandOptions): Promise<Contact>;
  /**
   * Moves everything from the other contact to this one. Resolves when the merge is complete. A
   * merge cannot be undone.
   * @throws TidingsError `conflict` when the contact would have more than 100 addresses or 1,000
   *   merged contacts
   */
  merge(id: string, otherId: string, options?: Keyed): Promise<Contact>;
  /**
   * Erases the contact. Only counts and the consents of its addresses remain. Messages that are
   * still queued for it are not sent. Resolves when the erasure is complete.
   */
  erase(id: string, options?: Keyed): Promise<void>;
  /** Lists the contact's conversations, newest first. */
  conversations(id: string, page?: PageQuery): Promise<Page<Conversation>>;
  /** Lists the contact's messages on all channels, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Lists the contact's observations, newest first. Expired observations are left out. */
  observations(id: string, page?: PageQuery): Promise<Page<Observation>>;
  /** Records a fact about the contact, such as "prefers mornings". */
  addObservation(
    id: string,
    input: Changes<AddObservation>,
    options?: CommandOptions,
  ): Promise<Observation>;
  /**
   * Removes an observation of the contact.
   * @throws TidingsError `not_found`
   */
  removeObservation(id: string, observationId: string, options?: CommandOptions): Promise<void>;
  /**
   * Returns the consent of each of the contact's addresses, with the 50 newest pieces of evidence.
   */
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

/** Conversations: the inbox, replies, notes, and who is responsible. */
export interface Conversations {
  /** Returns the contact's active conversation on the medium, or creates one. */
  open(input: OpenConversation, options?: CommandOptions): Promise<Conversation>;
  /**
   * Returns a conversation.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Conversation>;
  /** Lists the inbox, latest activity first. With a contact filter, the order is by creation. */
  list(filters?: ListConversations): Promise<Page<Conversation>>;
  /**
   * Opens, snoozes or closes a conversation, or changes its priority, metadata or suspected
   * opt-out. Absent fields keep their value.
   * @throws TidingsError `conflict` when it would reopen a conversation that a newer one has
   *   replaced
   */
  update(
    id: string,
    changes: Changes<UpdateConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  /** Lists the messages of the conversation, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /**
   * Sends a message from a person, to the address of the conversation's last message. That person
   * takes over the conversation. A closed conversation is reopened.
   * @throws TidingsError as `messages.send` does; `conflict` when the contact has no address on the
   *   medium any more, or when a newer conversation has replaced this one
   */
  reply(id: string, input: Changes<Reply>, options?: CommandOptions): Promise<Message>;
  /** Lists the notes of the conversation, newest first. */
  notes(id: string, page?: PageQuery): Promise<Page<Note>>;
  /** Adds an internal note. The contact never sees it. */
  addNote(id: string, input: Changes<AddNote>, options?: CommandOptions): Promise<Note>;
  /**
   * Assigns the conversation to a person or an agent. Null removes the assignment: a person's
   * conversation then waits in the queue, an agent's has no handler.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  assign(
    id: string,
    assignee: AssignConversation["assignee"],
    options?: CommandOptions,
  ): Promise<Conversation>;
  /** Replaces the labels of the conversation. */
  setLabels(id: string, labels: readonly string[], options?: CommandOptions): Promise<Conversation>;
  /** Marks all messages up to the last one as read. `unread_count` becomes 0. */
  markRead(id: string, options?: CommandOptions): Promise<Conversation>;
  /**
   * Puts the conversation in the queue for people and publishes `conversation.handoff`. A
   * conversation that already waits in the queue stays unchanged.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  handOff(
    id: string,
    input: Changes<HandOffConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  /**
   * Returns the conversation from people to its agent. Without an agent it has no handler then.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  handBack(id: string, options?: CommandOptions): Promise<Conversation>;
}

/** The API keys of the account in this mode, for requests over HTTP. */
export interface ApiKeys {
  /** Creates a key. Only this call returns the secret: a replay returns null. */
  create(input: CreateKey, options?: CommandOptions): Promise<CreatedKey>;
  /** Lists the keys, newest first. Revoked keys are included. */
  list(page?: PageQuery): Promise<Page<ApiKey>>;
  /**
   * Gives the key a new secret, which only this call returns. The old secret stays valid for the
   * grace time.
   * @throws TidingsError `not_found`, also when the key is revoked
   */
  rotate(
    id: string,
    input?: {
      /**
       * For how many seconds the old secret stays valid, at most 604,800 (7 days). 0 ends it at
       * once.
       * @default 86400
       */
      readonly grace_seconds?: number;
    },
    options?: CommandOptions,
  ): Promise<CreatedKey>;
  /**
   * Ends the key at once and for good, with its secret before the last rotation.
   * @throws TidingsError `not_found`
   */
  revoke(id: string, options?: CommandOptions): Promise<void>;
}

/** Chats with visitors of a website. */
export interface Webchat {
  /**
   * Opens a session for a visitor's browser. Only this call returns the token: a replay returns
   * null.
   */
  open(input?: OpenWebchatSession, options?: CommandOptions): Promise<WebchatSession>;
}

/** The addresses that the account sends from and receives at. */
export interface Senders {
  /**
   * Adds a sender. The account sends from its address and receives the messages to it.
   * @throws TidingsError `validation_failed` when no transport of that name carries the mode and
   *   the channels; `conflict` when the address is a sender already
   */
  create(input: CreateSender, options?: CommandOptions): Promise<Sender>;
  /** Lists the senders, newest first. */
  list(page?: PageQuery): Promise<Page<Sender>>;
  /**
   * Changes a sender. Absent fields keep their value.
   * @throws TidingsError `not_found`; `validation_failed` when its transport does not carry the
   *   channels
   */
  update(id: string, changes: Changes<UpdateSender>, options?: CommandOptions): Promise<Sender>;
  /**
   * Removes a sender. Queued messages from it still go out. New messages to its address belong to
   * no account.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}

/** The events of the account in this mode, for as long as the engine keeps them. */
export interface Events {
  /**
   * Returns an event.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Event>;
  /** Lists events, newest first. */
  list(filters?: ListEvents): Promise<Page<Event>>;
}

/** Endpoints that the engine posts events to, and the deliveries to them. */
export interface Webhooks {
  /**
   * Creates a webhook. Only this call returns the secret: a replay returns null.
   * @throws TidingsError `not_configured` when the engine has no option `http`
   */
  create(input: CreateWebhook, options?: CommandOptions): Promise<CreatedWebhook>;
  /**
   * Returns a webhook, without its secret.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Webhook>;
  /** Lists webhooks, newest first. */
  list(page?: PageQuery): Promise<Page<Webhook>>;
  /**
   * Changes, pauses or enables a webhook. Absent fields keep their value. The deliveries of a
   * webhook that is paused or disabled are kept and sent when it is enabled.
   * @throws TidingsError `not_found`
   */
  update(id: string, changes: Changes<UpdateWebhook>, options?: CommandOptions): Promise<Webhook>;
  /** Removes the webhook. Its deliveries are removed in the background. */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Gives the webhook a new secret, which only this call returns. During the grace time the old
   * secret signs too.
   */
  rotateSecret(
    id: string,
    input?: {
      /**
       * For how many seconds the old secret still signs, at most 604,800 (7 days). 0 ends it at
       * once.
       * @default 86400
       */
      readonly grace_seconds?: number;
    },
    options?: CommandOptions,
  ): Promise<CreatedWebhook>;
  /** Sends one sample event, whatever the webhook's status. */
  test(id: string, input?: Changes<TestWebhook>, options?: CommandOptions): Promise<Delivery>;
  /** Lists the deliveries of the webhook, newest first. */
  deliveries(id: string, filters?: Changes<ListDeliveries>): Promise<Page<Delivery>>;
  /**
   * Returns a delivery with its body and all attempts.
   * @throws TidingsError `not_found`
   */
  delivery(id: string, deliveryId: string): Promise<DeliveryWithAttempts>;
  /**
   * Makes one more attempt of the delivery, whatever its status.
   * @throws TidingsError `conflict` when the content was erased, or after 100 attempts
   */
  redeliver(id: string, deliveryId: string, options?: CommandOptions): Promise<Delivery>;
  /**
   * Makes one more attempt of each failed delivery since a time. Continues after the call resolves.
   */
  recover(
    id: string,
    input: {
      /** Only deliveries created at or after this time are sent again. ISO 8601. */
      readonly since: string;
    },
    options?: CommandOptions,
  ): Promise<Webhook>;
}

/** AI agents, which reply to contacts, and their runs. */
export interface Agents {
  /**
   * Creates an agent. It answers new inbound messages unless it is created disabled.
   * @throws TidingsError `not_configured` when it is enabled and the engine has no option `agents`
   */
  create(input: CreateAgent, options?: CommandOptions): Promise<Agent>;
  /**
   * Returns an agent.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Agent>;
  /** Lists agents, newest first. */
  list(page?: PageQuery): Promise<Page<Agent>>;
  /**
   * Changes an agent. Absent fields keep their value, also in nested objects, and null clears them.
   * Conversations that the agent already has continue with the version they started with.
   * @throws TidingsError `not_configured` when it enables the agent and the engine has no option
   *   `agents`
   */
  update(id: string, changes: Changes<UpdateAgent>, options?: CommandOptions): Promise<Agent>;
  /**
   * Removes an agent. It sends nothing more. Its conversations go to people when their contacts
   * write again.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Starts a playbook or calls one action in a conversation. Resolves with the run when it is
   * queued. A conversation without a handler is assigned to the agent.
   * @throws TidingsError `conflict` when the agent or the playbook is disabled, when the
   *   conversation is closed or another agent has it, and for a playbook also when people have it
   */
  trigger(id: string, input: Changes<TriggerAgent>, options?: CommandOptions): Promise<Run>;
  /** Lists the runs of the agent, newest first. */
  runs(id: string, filters?: Changes<ListRuns>): Promise<Page<Run>>;
  /**
   * Returns a run with its steps and its result.
   * @throws TidingsError `not_found`
   */
  run(id: string, runId: string): Promise<Run>;
  /**
   * Approves or denies an action that waits for approval. If several wait, decides about the
   * oldest. Without a decision the action is denied after one day.
   * @throws TidingsError `conflict` when the run waits for no approval, or when it would approve
   *   while people handle the conversation
   */
  approve(
    id: string,
    runId: string,
    decision: Omit<Changes<ApproveRun>, "run_id">,
    options?: CommandOptions,
  ): Promise<Run>;
}

/** Playbooks: scripts that agents follow. */
export interface Playbooks {
  /** Creates a playbook, disabled by default. All its steps are checked when it is enabled. */
  create(input: CreatePlaybook, options?: CommandOptions): Promise<Playbook>;
  /**
   * Returns a playbook.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Playbook>;
  /** Lists playbooks, newest first. */
  list(page?: PageQuery): Promise<Page<Playbook>>;
  /**
   * Changes, enables or disables a playbook. Absent fields keep their value. Runs in progress
   * continue with the version they started with.
   * @throws TidingsError `validation_failed` when the playbook is enabled and its steps are not
   *   valid as a whole
   */
  update(id: string, changes: Changes<UpdatePlaybook>, options?: CommandOptions): Promise<Playbook>;
  /**
   * Removes a playbook.
   * @throws TidingsError `conflict` when an agent uses it or another playbook calls it.
   *   `conflictingId` is the id of that agent or playbook.
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}

/** Simulation tools. Except for `numbers`, they throw `conflict` in the mode `live`. */
export interface Sandbox {
  /** Lists the test numbers and how each behaves. */
  numbers(): Promise<SandboxNumbers>;
  /** Simulates a message from a contact. */
  inbound(input: SandboxInbound, options?: CommandOptions): Promise<Message>;
  /**
   * Simulates receipts of the carrier for a message, in the given order. They may be repeated and
   * out of order.
   * @throws TidingsError `conflict` when the message was not sent yet
   */
  receipts(
    id: string,
    receipts: SandboxReceipts["receipts"],
    options?: CommandOptions,
  ): Promise<Message>;
  /** Publishes a sample event to handlers, streams and webhooks. */
  event(input: SandboxEvent, options?: CommandOptions): Promise<AnyEvent>;
  /**
   * Creates sample contacts and conversations on every channel, and a sample agent if the engine
   * has the option `agents`. A repeated call adds nothing.
   */
  seed(options?: CommandOptions): Promise<SandboxSeedResult>;
  /**
   * Removes the account's messages, contacts, conversations and events in the sandbox. API keys,
   * senders, webhooks, agents, playbooks and usage counts stay.
   */
  reset(options?: Keyed): Promise<SandboxResetResult>;
}

/** The accounts of the engine, one for each of your tenants. */
export interface Accounts {
  /**
   * Creates an account with its sandbox and a first sandbox key. Only this call returns the key's
   * secret.
   */
  create(input: CreateAccount, options?: CommandOptions): Promise<CreatedAccount>;
}

/** The operations on one account in one mode. */
export interface AccountHandle {
  /** The account and mode of this handle. */
  readonly scope: Scope;
  /** Messages: send, schedule, change and read them. */
  readonly messages: Messages;
  /** Conversations: the inbox, replies, notes, and who is responsible. */
  readonly conversations: Conversations;
  /** Contacts, with their addresses, consents, observations and sentiment. */
  readonly contacts: Contacts;
  /** The API keys of the account in this mode. */
  readonly apiKeys: ApiKeys;
  /** Chats with visitors of a website. */
  readonly webchat: Webchat;
  /** The addresses that the account sends from and receives at. */
  readonly senders: Senders;
  /** The events of the account in this mode. */
  readonly events: Events;
  /** Endpoints that the engine posts events to. */
  readonly webhooks: Webhooks;
  /** AI agents, which reply to contacts. */
  readonly agents: Agents;
  /** Playbooks: scripts that agents follow. */
  readonly playbooks: Playbooks;
  /** Simulation tools. */
  readonly sandbox: Sandbox;
  /**
   * Returns the account with its plan and limits.
   * @throws TidingsError `not_found` when there is no such account
   */
  get(): Promise<Account>;
  /**
   * Counts messages by day, channel and status, the oldest day first. By default the last 31 days,
   * at most 366.
   */
  usage(days?: GetUsage): Promise<Usage>;
}
