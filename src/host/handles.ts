import type { EventEnvelope, EventType, ListEvents, StreamEvents } from "../events/index.ts";
import type {
  Account,
  ApiKey,
  CreateAccount,
  CreatedAccount,
  UpdateAccount,
  CreatedKey,
  CreateKey,
  ErrorCounts,
  GetErrorCounts,
  GetHourlyUsage,
  GetUsage,
  HourlyUsage,
  Usage,
} from "../accounts/index.ts";
import type { Backlog } from "../backlog/index.ts";
import type { Message } from "../messages/index.ts";
import type { Operator, SaveOperator } from "../operators/index.ts";
import type {
  CreatedWebhook,
  CreateWebhook,
  Delivery,
  DeliveryWithAttempts,
  DeliveryWithBody,
  Event,
  ListDeliveries,
  TestWebhook,
  UpdateWebhook,
  Webhook,
} from "../webhooks/index.ts";
import type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "../sandbox/index.ts";
import type { Page, PageQuery, Scope } from "../kernel/index.ts";
import type { CommandOptions, KeyOptions, StreamOptions, WithoutId } from "../operations/index.ts";
import type { Agents, Playbooks } from "./agent-handles.ts";
import type { Contacts } from "./contact-handles.ts";
import type { Conversations, Webchat } from "./conversation-handles.ts";
import type { Messages, Senders } from "./message-handles.ts";

/** The API keys of the account in this mode, for requests over HTTP. */
export interface ApiKeys {
  /** Creates a key. Only this call returns the secret: a replay returns null. */
  create(input: CreateKey, options?: CommandOptions): Promise<CreatedKey>;
  /** Lists the keys, newest first. Revoked keys are included. */
  list(page?: PageQuery): Promise<Page<ApiKey>>;
  /**
   * Gives the key a new secret, which only this call returns. The old secret stays valid for the
   * grace time.
   * @throws TidingsError `not_found`, also when the key is revoked; `conflict` when it has expired
   */
  rotate(
    id: string,
    input?: {
      /**
       * For how many seconds the old secret stays valid, at most 604,800 (7 days). 0 ends it at
       * once.
       * @default 86400
       */
      readonly grace_seconds?: number | undefined;
    },
    options?: CommandOptions,
  ): Promise<CreatedKey>;
  /**
   * Revokes the key at once and permanently. A secret that a rotation replaced stops working too.
   * @throws TidingsError `not_found`
   */
  revoke(id: string, options?: CommandOptions): Promise<void>;
}

/** The people of your application who work on the account's conversations in this mode. */
export interface Operators {
  /** Lists the operators in the order of their ids. */
  list(page?: PageQuery): Promise<Page<Operator>>;
  /**
   * Returns an operator.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Operator>;
  /**
   * Adds an operator under your own id, or replaces the data of the one with this id.
   * @throws TidingsError `conflict` when the account has 1,000 operators
   */
  save(id: string, input: WithoutId<SaveOperator>, options?: CommandOptions): Promise<Operator>;
  /**
   * Removes an operator. Conversations stay assigned to the id, and replies and notes keep it.
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
  /**
   * Lists events, newest first. A filtered page can be empty although `has_more` is true: continue
   * until it is false.
   */
  list<T extends EventType = EventType>(
    filters?: Omit<ListEvents, "type"> & {
      /** Only events of this type. */
      readonly type?: T | undefined;
    },
  ): Promise<Page<Event<T>>>;
  /**
   * Opens a stream of events in commit order, without gaps: those after `last_event_id`, or new
   * ones. Resolves when the stream is open, so it yields every event that is committed later.
   * Events are read as fast as your loop takes them. The stream ends when the loop is left, when
   * `options.signal` aborts, or when the engine stops.
   * @throws TidingsError `validation_failed` when the event `last_event_id` is no longer kept or
   *   older than `eventRetentionDays`
   */
  stream<T extends EventType = EventType>(
    input?: Omit<StreamEvents, "typing" | "types"> & {
      /** Only events of these types. All types by default. */
      readonly types?: readonly T[] | undefined;
    },
    options?: StreamOptions,
  ): Promise<AsyncIterable<Event<T>>>;
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
  update(id: string, changes: WithoutId<UpdateWebhook>, options?: CommandOptions): Promise<Webhook>;
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
      readonly grace_seconds?: number | undefined;
    },
    options?: CommandOptions,
  ): Promise<CreatedWebhook>;
  /** Sends one sample event now, whatever the webhook's status and ordering. */
  test(id: string, input?: WithoutId<TestWebhook>, options?: CommandOptions): Promise<Delivery>;
  /**
   * Lists the deliveries of the webhook, newest first, each with its latest 5 attempts. A filtered
   * page can be empty although `has_more` is true: continue until it is false.
   */
  deliveries(id: string, filters?: WithoutId<ListDeliveries>): Promise<Page<DeliveryWithAttempts>>;
  /**
   * Returns a delivery with its body and all attempts.
   * @throws TidingsError `not_found`
   */
  delivery(id: string, deliveryId: string): Promise<DeliveryWithBody>;
  /**
   * Attempts the delivery once more, whatever its status. With `fifo` ordering, the attempt waits
   * until the deliveries that are pending now have ended, unless they wait for this one.
   * @throws TidingsError `conflict` when the content was erased, or after 100 attempts
   */
  redeliver(id: string, deliveryId: string, options?: CommandOptions): Promise<Delivery>;
  /**
   * Makes one more attempt for each `failed` delivery that was created at or after `since`. The
   * work continues after the call resolves. A second call during that work attempts none twice,
   * unless its `since` is earlier.
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

/** Simulation tools. They throw `conflict` in the mode `live`. */
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
  /** Publishes a sample event to handlers, consumers, streams and webhooks. */
  event(input: SandboxEvent, options?: CommandOptions): Promise<EventEnvelope>;
  /**
   * Creates sample contacts and conversations on every channel, and a sample agent if the engine
   * has the option `agents` and the sandbox has no agent. A repeated call adds nothing.
   */
  seed(options?: CommandOptions): Promise<SandboxSeedResult>;
  /**
   * Removes the account's messages, contacts, conversations, agents, playbooks and events in the
   * sandbox. API keys, senders, webhooks, operators and usage counts stay.
   */
  reset(options?: KeyOptions): Promise<SandboxResetResult>;
}

/** The accounts of the engine, one for each of your tenants. */
export interface Accounts {
  /**
   * Creates an account with its sandbox and a first sandbox key. Only this call returns the key's
   * secret.
   */
  create(input: CreateAccount, options?: CommandOptions): Promise<CreatedAccount>;
  /** Lists the accounts, newest first. The default account is last. */
  list(page?: PageQuery): Promise<Page<Account>>;
  /**
   * Changes the name, the plan or the time zone of an account. Absent fields keep their value.
   * @throws TidingsError `not_found` when there is no such account
   */
  update(id: string, changes: WithoutId<UpdateAccount>, options?: CommandOptions): Promise<Account>;
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
  /** The people who work on conversations: their names and pictures. */
  readonly operators: Operators;
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
  /**
   * Counts messages by hour and channel, the oldest hour first, and how long deliveries took. By
   * default the last 24 hours, at most 31 days. Counts are kept for 92 days.
   */
  usageByHour(hours?: GetHourlyUsage): Promise<HourlyUsage>;
  /**
   * Counts the errors of messages by sender and code, the most frequent one first. By default the
   * last 7 days, at most 31. Counts are kept for 92 days.
   */
  errorCounts(days?: GetErrorCounts): Promise<ErrorCounts>;
  /**
   * Returns what waits in the account in this mode, and since when: messages to hand over, awaited
   * outcomes, agents' turns and webhook deliveries.
   */
  backlog(): Promise<Backlog>;
}
