import type {
  Account,
  ApiKey,
  ApiKeyWithSecret,
  CreateAccount,
  CreateApiKey,
  CreatedAccount,
  ErrorCounts,
  GetErrorCounts,
  GetHourlyUsage,
  GetUsage,
  HourlyUsage,
  RotateApiKey,
  UpdateAccount,
  Usage,
} from "../../accounts/index.ts";
import type { Backlog } from "../../backlog/index.ts";
import type { EventType } from "../../events/index.ts";
import type { PageQuery, Scope } from "../../kernel/index.ts";
import type { Message } from "../../messages/index.ts";
import type {
  CommandOptions,
  KeyOptions,
  PagePromise,
  TxOptions,
  WithSecrets,
} from "../../operations/index.ts";
import type { Operator, SaveOperator } from "../../operators/index.ts";
import type {
  SandboxEvent,
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipt,
  SandboxResetResult,
  SandboxSeedResult,
} from "../../sandbox/index.ts";
import type { Event } from "../../webhooks/index.ts";
import type { Agents, Playbooks, Runs } from "./agent-handles.ts";
import type { Contacts } from "./contact-handles.ts";
import type { Conversations, Webchat } from "./conversation-handles.ts";
import type { Events, Webhooks } from "./event-handles.ts";
import type { Messages, Senders } from "./message-handles.ts";

/** The API keys of the account in this mode, for requests over HTTP. */
export interface ApiKeys {
  /** Creates a key. Only this call returns its secret. */
  create(
    input: CreateApiKey,
    options?: TxOptions,
  ): Promise<WithSecrets<ApiKeyWithSecret, "secret">>;
  /** Creates a key once. A replay returns null instead of the secret. */
  create(input: CreateApiKey, options?: CommandOptions): Promise<ApiKeyWithSecret>;
  /** Lists the keys, newest first. Revoked keys are included. */
  list(page?: PageQuery): PagePromise<ApiKey>;
  /**
   * Gives the key a new secret, which only this call returns. The old secret stays valid for the
   * grace time.
   * @throws TidingsError `not_found`; `conflict` when the key was revoked or has expired
   */
  rotate(
    id: string,
    input?: RotateApiKey,
    options?: TxOptions,
  ): Promise<WithSecrets<ApiKeyWithSecret, "secret">>;
  /**
   * Rotates the secret once. A replay returns null instead of the secret.
   * @throws TidingsError `not_found`; `conflict` when the key was revoked or has expired
   */
  rotate(id: string, input?: RotateApiKey, options?: CommandOptions): Promise<ApiKeyWithSecret>;
  /**
   * Revokes the key at once and permanently. A secret that a rotation replaced stops working too.
   * @throws TidingsError `not_found`
   */
  revoke(id: string, options?: CommandOptions): Promise<void>;
}

/** The people of your application who work on the account's conversations in this mode. */
export interface Operators {
  /** Lists the operators in the order of their ids. */
  list(page?: PageQuery): PagePromise<Operator>;
  /**
   * Returns an operator.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Operator>;
  /**
   * Adds an operator under your own id, or replaces the data of the one with this id.
   * @throws TidingsError `conflict` when the account has 1,000 operators
   */
  save(id: string, input: SaveOperator, options?: CommandOptions): Promise<Operator>;
  /**
   * Removes an operator. Conversations stay assigned to the id, and replies and notes keep it.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
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
   * @throws TidingsError `conflict` when the message was not sent
   */
  receipts(
    id: string,
    receipts: readonly SandboxReceipt[],
    options?: CommandOptions,
  ): Promise<Message>;
  /** Publishes a sample event to handlers, consumers, streams and webhooks. */
  event<T extends EventType>(
    input: SandboxEvent & {
      /** The type of the event. */
      readonly type: T;
    },
    options?: CommandOptions,
  ): Promise<Event<T>>;
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

/** A new account, with its first API key and the key's secret. */
export interface CreatedAccountWithSecret extends CreatedAccount {
  /** Its first API key: a sandbox key with all scopes. */
  readonly key: WithSecrets<ApiKeyWithSecret, "secret">;
}

/** The accounts of the engine, one for each of your tenants. */
export interface Accounts {
  /**
   * Creates an account with its sandbox and a first sandbox key. Only this call returns the key's
   * secret.
   */
  create(input: CreateAccount, options?: TxOptions): Promise<CreatedAccountWithSecret>;
  /** Creates an account once. A replay returns null instead of the key's secret. */
  create(input: CreateAccount, options?: CommandOptions): Promise<CreatedAccount>;
  /** Lists the accounts, newest first. The default account is last. */
  list(page?: PageQuery): PagePromise<Account>;
  /**
   * Changes the name, the plan, the time zone, the texts or the quiet hours of an account. Absent
   * fields keep their value.
   * @throws TidingsError `not_found` when there is no such account
   */
  update(id: string, changes: UpdateAccount, options?: CommandOptions): Promise<Account>;
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
  /** The runs of all agents. */
  readonly runs: Runs;
  /** Playbooks: scripts that agents follow. */
  readonly playbooks: Playbooks;
  /** Simulation tools. */
  readonly sandbox: Sandbox;
  /**
   * Returns the account with its plan, limits and settings.
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
   * last 7 days, at most 31. Adds up at most 10,000 counts, one for each day, sender and code. If
   * there are more, those of the oldest days are left out. Counts are kept for 92 days.
   */
  errorCounts(days?: GetErrorCounts): Promise<ErrorCounts>;
  /**
   * Returns what waits in the account in this mode, and since when: messages to hand over, awaited
   * outcomes, agents' turns and webhook deliveries.
   */
  backlog(): Promise<Backlog>;
}
