import { addObservation } from "./commands/add-observation.ts";
import { createContact } from "./commands/create-contact.ts";
import { getContact } from "./commands/get-contact.ts";
import { listContactConversations } from "./commands/list-contact-conversations.ts";
import { listContactMessages } from "./commands/list-contact-messages.ts";
import { listContacts } from "./commands/list-contacts.ts";
import { listObservations } from "./commands/list-observations.ts";
import { removeObservation } from "./commands/remove-observation.ts";
import { updateContact } from "./commands/update-contact.ts";
import { eraseContact } from "./procedures/erase-contact.ts";
import { mergeContacts } from "./procedures/merge-contacts.ts";
import { importContactRows } from "./procedures/import-contacts.ts";
import { searchContacts } from "./commands/search-contacts.ts";
import type {
  Contact,
  CreateContact,
  ImportContact,
  ImportCounts,
  ImportReport,
  ListContacts,
  SearchContacts,
  UpdateContact,
} from "./domain/contacts/types.ts";
import type { AddObservation, Observation } from "./domain/observations/types.ts";
import { cancelMessage } from "./commands/cancel-message.ts";
import { createKey } from "./commands/create-key.ts";
import { createSender } from "./commands/create-sender.ts";
import { editMessage } from "./commands/edit-message.ts";
import { openWebchatSession } from "./commands/open-webchat-session.ts";
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
import type { Account, CreateAccount, CreatedAccount } from "./domain/accounts/types.ts";
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
import { addNote } from "./commands/add-note.ts";
import { assignConversation } from "./commands/assign-conversation.ts";
import { getConversation } from "./commands/get-conversation.ts";
import { handBackConversation } from "./commands/hand-back-conversation.ts";
import { handOffConversation } from "./commands/hand-off-conversation.ts";
import { labelConversation } from "./commands/label-conversation.ts";
import { listConversationMessages } from "./commands/list-conversation-messages.ts";
import { listConversations } from "./commands/list-conversations.ts";
import { listNotes } from "./commands/list-notes.ts";
import { openConversation } from "./commands/open-conversation.ts";
import { readConversation } from "./commands/read-conversation.ts";
import { reply } from "./commands/reply.ts";
import { updateConversation } from "./commands/update-conversation.ts";
import type {
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
import { getConsents } from "./commands/get-consents.ts";
import { changeConsent } from "./commands/set-consent.ts";
import { getContactSentiment } from "./commands/get-contact-sentiment.ts";
import type { ConsentMedium, Consents, SetConsent } from "./domain/consents/types.ts";
import type { ContactSentiment } from "./domain/sentiment/types.ts";
import type { OpenWebchatSession, WebchatSession } from "./domain/webchat/types.ts";
import type { Command, Procedure, Query, RowProcedure } from "./operation.ts";
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
  import(rows: Iterable<ImportContact> | AsyncIterable<ImportContact>): AsyncGenerator<ImportReport, ImportCounts>;
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
  addObservation(id: string, input: Changes<AddObservation>, options?: CommandOptions): Promise<Observation>;
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
  update(id: string, changes: Changes<UpdateConversation>, options?: CommandOptions): Promise<Conversation>;
  /** The thread, from its end. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Sends what a person writes, who takes the conversation over with it. */
  reply(id: string, input: Changes<Reply>, options?: CommandOptions): Promise<Message>;
  /** Newest first. */
  notes(id: string, page?: PageQuery): Promise<Page<Note>>;
  addNote(id: string, input: Changes<AddNote>, options?: CommandOptions): Promise<Note>;
  /** To a person, an agent, or nobody: null. */
  assign(id: string, assignee: AssignConversation["assignee"], options?: CommandOptions): Promise<Conversation>;
  setLabels(id: string, labels: readonly string[], options?: CommandOptions): Promise<Conversation>;
  markRead(id: string, options?: CommandOptions): Promise<Conversation>;
  handOff(id: string, input: Changes<HandOffConversation>, options?: CommandOptions): Promise<Conversation>;
  handBack(id: string, options?: CommandOptions): Promise<Conversation>;
}

export interface ApiKeys {
  /** The secret is in the answer, this once. */
  create(input: CreateKey, options?: CommandOptions): Promise<CreatedKey>;
  list(page?: PageQuery): Promise<Page<ApiKey>>;
  rotate(id: string, input?: { readonly grace_seconds?: number }, options?: CommandOptions): Promise<CreatedKey>;
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

/** A test bench; in the sandbox only. */
export interface Sandbox {
  /** The test numbers, and what each does. */
  numbers(): Promise<SandboxNumbers>;
  inbound(input: SandboxInbound, options?: CommandOptions): Promise<Message>;
  receipts(id: string, receipts: SandboxReceipts["receipts"], options?: CommandOptions): Promise<Message>;
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
  readonly rows: <Report, Total>(
    procedure: RowProcedure<Report, Total>,
    rows: Iterable<unknown> | AsyncIterable<unknown>,
  ) => AsyncGenerator<Report, Total>;
}

export function accountHandle(scope: Scope, { change, read, rows }: Run): AccountHandle {
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
    contacts: {
      search: (query) => read(searchContacts, query),
      import: (contacts) => rows(importContactRows, contacts),
      create: (input, options) => change(createContact, input, options),
      get: (id) => read(getContact, { id }),
      list: (filters = {}) => read(listContacts, filters),
      update: (id, changes, options) => change(updateContact, { ...changes, id }, options),
      merge: (id, contact_id, options) => change(mergeContacts, { id, contact_id }, options),
      erase: (id, options) => change(eraseContact, { id }, options),
      conversations: (id, page = {}) => read(listContactConversations, { ...page, id }),
      messages: (id, page = {}) => read(listContactMessages, { ...page, id }),
      observations: (id, page = {}) => read(listObservations, { ...page, id }),
      addObservation: (id, input, options) => change(addObservation, { ...input, id }, options),
      removeObservation: (id, observation_id, options) => change(removeObservation, { id, observation_id }, options),
      consents: (id) => read(getConsents, { id }),
      setConsent: (id, medium, asked, options) => change(changeConsent, { ...asked, id, medium }, options),
      sentiment: (id) => read(getContactSentiment, { id }),
    },
    conversations: {
      open: (input, options) => change(openConversation, input, options),
      get: (id) => read(getConversation, { id }),
      list: (filters = {}) => read(listConversations, filters),
      update: (id, changes, options) => change(updateConversation, { ...changes, id }, options),
      messages: (id, page = {}) => read(listConversationMessages, { ...page, id }),
      reply: (id, input, options) => change(reply, { ...input, id }, options),
      notes: (id, page = {}) => read(listNotes, { ...page, id }),
      addNote: (id, input, options) => change(addNote, { ...input, id }, options),
      assign: (id, assignee, options) => change(assignConversation, { id, assignee }, options),
      setLabels: (id, labels, options) => change(labelConversation, { id, labels }, options),
      markRead: (id, options) => change(readConversation, { id }, options),
      handOff: (id, input, options) => change(handOffConversation, { ...input, id }, options),
      handBack: (id, options) => change(handBackConversation, { id }, options),
    },
    apiKeys: {
      create: (input, options) => change(createKey, input, options),
      list: (page = {}) => read(listKeys, page),
      rotate: (id, input = {}, options) => change(rotateKey, { ...input, id }, options),
      revoke: (id, options) => change(revokeKey, { id }, options),
    },
    webchat: {
      open: (input = {}, options) => change(openWebchatSession, input, options),
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
