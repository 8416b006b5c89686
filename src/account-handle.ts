import { cancelMessage } from "./commands/cancel-message.ts";
import { createKey } from "./commands/create-key.ts";
import { createSender } from "./commands/create-sender.ts";
import { editMessage } from "./commands/edit-message.ts";
import { previewMessage } from "./commands/preview-message.ts";
import { receiveSandboxMessage } from "./commands/receive-sandbox-message.ts";
import { receiveSandboxReceipts } from "./commands/receive-sandbox-receipts.ts";
import { redactMessage } from "./commands/redact-message.ts";
import { removeSender } from "./commands/remove-sender.ts";
import { resetSandbox } from "./procedures/reset-sandbox.ts";
import { revokeKey } from "./commands/revoke-key.ts";
import { rotateKey } from "./commands/rotate-key.ts";
import { seedSandbox } from "./commands/seed-sandbox.ts";
import { sendBatch } from "./procedures/send-batch.ts";
import { sendMessage } from "./commands/send-message.ts";
import { updateSender } from "./commands/update-sender.ts";
import { getAccount } from "./domain/accounts/reads.ts";
import type { Account } from "./domain/accounts/types.ts";
import { getEvent, listEvents } from "./domain/events/reads.ts";
import type { Event, ListEvents } from "./domain/events/types.ts";
import type { Page, PageQuery } from "./fields.ts";
import { listKeys } from "./domain/keys/reads.ts";
import type { ApiKey, CreatedKey, CreateKey } from "./domain/keys/types.ts";
import { getMessage, getTimeline, listMessages } from "./domain/messages/reads.ts";
import type {
  BatchMessages,
  BatchResults,
  EditMessage,
  ListMessages,
  Message,
  MessagePreview,
  PreviewMessage,
  SendMessage,
} from "./domain/messages/types.ts";
import { listSandboxNumbers } from "./domain/sandbox/reads.ts";
import type {
  SandboxInbound,
  SandboxNumbers,
  SandboxReceipts,
  SandboxResetResult,
  SandboxSeedResult,
} from "./domain/sandbox/types.ts";
import { listSenders } from "./domain/senders/reads.ts";
import type { CreateSender, Sender, UpdateSender } from "./domain/senders/types.ts";
import type { Timeline } from "./domain/timeline/types.ts";
import { getUsage } from "./domain/usage/reads.ts";
import type { GetUsage, Usage } from "./domain/usage/types.ts";
import type { Command, Procedure, Query } from "./operation.ts";
import type { Scope } from "./scope.ts";

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

export interface ApiKeys {
  /** The secret is in the answer, this once. */
  create(input: CreateKey, options?: CommandOptions): Promise<CreatedKey>;
  list(page?: PageQuery): Promise<Page<ApiKey>>;
  rotate(id: string, input?: { readonly grace_seconds?: number }, options?: CommandOptions): Promise<CreatedKey>;
  revoke(id: string, options?: CommandOptions): Promise<void>;
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

/** A test bench; in the sandbox only. */
export interface Sandbox {
  /** The test numbers, and what each does. */
  numbers(): Promise<SandboxNumbers>;
  inbound(input: SandboxInbound, options?: CommandOptions): Promise<Message>;
  receipts(id: string, receipts: SandboxReceipts["receipts"], options?: CommandOptions): Promise<Message>;
  seed(options?: CommandOptions): Promise<SandboxSeedResult>;
  reset(options?: CommandOptions): Promise<SandboxResetResult>;
}

/** One account in one mode, in process: what its API keys can do over HTTP, and as the same operations. */
export interface AccountHandle {
  readonly scope: Scope;
  readonly messages: Messages;
  readonly apiKeys: ApiKeys;
  readonly senders: Senders;
  readonly events: Events;
  readonly sandbox: Sandbox;
  get(): Promise<Account>;
  usage(days?: GetUsage): Promise<Usage>;
}

/** How a handle reaches the engine: inputs are parsed there. */
export interface Run {
  readonly change: <Input, Output>(
    operation: Command<Input, Output> | Procedure<Input, Output>,
    input: unknown,
    options: CommandOptions | undefined,
  ) => Promise<Output>;
  readonly read: <Input, Output>(query: Query<Input, Output>, input: unknown) => Promise<Output>;
}

export function accountHandle(scope: Scope, { change, read }: Run): AccountHandle {
  return {
    scope,
    messages: {
      send: (input, options) => change(sendMessage, input, options),
      batch: (input, options) => change(sendBatch, input, options),
      preview: (input) => change(previewMessage, input, undefined),
      get: (id) => read(getMessage, { id }),
      list: (filters = {}) => read(listMessages, filters),
      timeline: (id) => read(getTimeline, { id }),
      edit: (id, changes, options) => change(editMessage, { ...changes, id }, options),
      cancel: (id, options) => change(cancelMessage, { id }, options),
      redact: (id, options) => change(redactMessage, { id }, options),
    },
    apiKeys: {
      create: (input, options) => change(createKey, input, options),
      list: (page = {}) => read(listKeys, page),
      rotate: (id, input = {}, options) => change(rotateKey, { ...input, id }, options),
      revoke: (id, options) => change(revokeKey, { id }, options),
    },
    senders: {
      create: (input, options) => change(createSender, input, options),
      list: (page = {}) => read(listSenders, page),
      update: (id, changes, options) => change(updateSender, { ...changes, id }, options),
      remove: (id, options) => change(removeSender, { id }, options),
    },
    events: {
      get: (id) => read(getEvent, { id }),
      list: (filters = {}) => read(listEvents, filters),
    },
    sandbox: {
      numbers: () => read(listSandboxNumbers, {}),
      inbound: (input, options) => change(receiveSandboxMessage, input, options),
      receipts: (id, receipts, options) => change(receiveSandboxReceipts, { id, receipts }, options),
      seed: (options) => change(seedSandbox, {}, options),
      reset: (options) => change(resetSandbox, {}, options),
    },
    get: () => read(getAccount, {}),
    usage: (days = {}) => read(getUsage, days),
  };
}
