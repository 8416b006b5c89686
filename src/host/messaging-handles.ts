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
  ConversationMatch,
  EditMessage,
  ListMessages,
  Message,
  MessagePreview,
  PreviewMessage,
  Reply,
  SearchConversations,
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
import type { AddObservation, Observation } from "../observations/index.ts";
import type { MergePreview } from "../privacy/index.ts";
import type { CreateSender, Sender, UpdateSender } from "../senders/index.ts";
import type {
  OpenWebchatSession,
  ShowTyping,
  StreamedWebchatMessage,
  Typing,
  VisitorMark,
  VisitorMessage,
  VisitorStream,
  WatchTyping,
  WebchatMessage,
  WebchatMessagePage,
  WebchatSession,
  WebchatSignal,
} from "../webchat/index.ts";
import type { Page, PageQuery } from "../kernel/index.ts";
import type { CommandOptions, KeyOptions, StreamOptions, WithoutId } from "../operations/index.ts";

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
  batch(input: BatchMessages, options?: KeyOptions): Promise<BatchResults>;
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
  /**
   * Lists messages, newest first. A filtered page can be empty although `has_more` is true:
   * continue until it is false. A filter by an unknown id gives an empty list.
   */
  list(filters?: ListMessages): Promise<Page<Message>>;
  /**
   * Returns everything that happened to a message, oldest first: changes of its status, attempts,
   * receipts, look-ups, edits and denials.
   * @throws TidingsError `not_found`
   */
  timeline(id: string): Promise<Timeline>;
  /**
   * Changes the content or the time of a scheduled message. Absent fields keep their value.
   * @throws TidingsError `not_editable` when the message is not scheduled or an attempt may have
   *   sent it; `recipient_opted_out`; `policy_denied`
   */
  edit(id: string, changes: WithoutId<EditMessage>, options?: CommandOptions): Promise<Message>;
  /**
   * Cancels a scheduled or queued message. It is not handed over again. If it waited for a retry, a
   * receipt can still show that an earlier attempt succeeded.
   * @throws TidingsError `not_cancelable` when the message has another status
   */
  cancel(id: string, options?: CommandOptions): Promise<Message>;
  /**
   * Permanently removes the text and media of a message, also from its events, webhook deliveries,
   * stored responses and agent runs. Its status and timeline stay. A playbook in progress that may
   * contain the text ends.
   * @throws TidingsError `conflict` while the message waits or is being sent, or while an agent's
   *   run is open that may quote it
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
  /**
   * Lists contacts, newest first, without merged contacts. A filtered page can be empty although
   * `has_more` is true: continue until it is false.
   */
  list(filters?: ListContacts): Promise<Page<Contact>>;
  /**
   * Changes a contact. Absent fields keep their value, and null clears them. A phone number that is
   * cleared belongs to no contact.
   * @throws TidingsError `conflict` when another contact has the phone number, or when the contact
   *   was merged. `conflictingId` is the id of the other contact.
   */
  update(id: string, changes: WithoutId<UpdateContact>, options?: CommandOptions): Promise<Contact>;
  /**
   * Moves everything from the other contact to this one. Resolves when the merge is complete. A
   * merge cannot be undone.
   * @throws TidingsError `conflict` when the contact would have more than 100 addresses or 1,000
   *   merged contacts
   */
  merge(id: string, otherId: string, options?: KeyOptions): Promise<Contact>;
  /**
   * Returns what `merge` would do: the contact that it would result in, and the conversations that
   * it would close.
   * @throws TidingsError as `merge` does
   */
  previewMerge(id: string, otherId: string): Promise<MergePreview>;
  /**
   * Erases the contact and the contacts that were merged into it. Queued and scheduled messages to
   * it are not sent. Resolves when the erasure is complete. What stays identifies nobody by itself:
   * counts, events without names, addresses and texts, the consents of its addresses under keyed
   * hashes, and idempotency keys until they expire.
   */
  erase(id: string, options?: KeyOptions): Promise<void>;
  /** Lists the contact's conversations, newest first. */
  conversations(id: string, page?: PageQuery): Promise<Page<Conversation>>;
  /** Lists the contact's messages on all channels, newest first. */
  messages(id: string, page?: PageQuery): Promise<Page<Message>>;
  /** Lists the contact's observations, newest first. Expired observations are left out. */
  observations(id: string, page?: PageQuery): Promise<Page<Observation>>;
  /** Records a fact about the contact, such as "prefers mornings". */
  addObservation(
    id: string,
    input: WithoutId<AddObservation>,
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
    change: Omit<WithoutId<SetConsent>, "medium">,
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
  /**
   * Lists the inbox, latest activity first. With a contact filter, newest first. A filtered page
   * can be empty although `has_more` is true: continue until it is false.
   */
  list(filters?: ListConversations): Promise<Page<Conversation>>;
  /**
   * Searches by words or prefixes of words in contacts, labels and messages, or by the start of a
   * phone number. A contact that matches stands for its latest conversation on each medium. Returns
   * one page: `next_cursor` is null.
   */
  search(query: SearchConversations): Promise<Page<ConversationMatch>>;
  /**
   * Opens, snoozes or closes a conversation, or changes its priority, metadata or suspected
   * opt-out. Absent fields keep their value.
   * @throws TidingsError `conflict` when it would reopen a conversation that a newer one has
   *   replaced
   */
  update(
    id: string,
    changes: WithoutId<UpdateConversation>,
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
  reply(id: string, input: WithoutId<Reply>, options?: CommandOptions): Promise<Message>;
  /** Lists the notes of the conversation, newest first. */
  notes(id: string, page?: PageQuery): Promise<Page<Note>>;
  /** Adds an internal note. The contact never sees it. */
  addNote(id: string, input: WithoutId<AddNote>, options?: CommandOptions): Promise<Note>;
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
  /** Marks the conversation as unread. `unread_count` becomes at least 1. */
  markUnread(id: string, options?: CommandOptions): Promise<Conversation>;
  /**
   * Puts the conversation in the queue for people, opens it if it is snoozed, and publishes
   * `conversation.handoff`. A conversation that already waits in the queue stays unchanged.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  handOff(
    id: string,
    input: WithoutId<HandOffConversation>,
    options?: CommandOptions,
  ): Promise<Conversation>;
  /**
   * Returns the conversation from people to its agent. If it has no agent, it then has no handler.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  handBack(id: string, options?: CommandOptions): Promise<Conversation>;
  /**
   * Tells the visitor of a webchat conversation, and colleagues, that a person is typing. It holds
   * for 6 seconds, or until the person's message: repeat it every 3 seconds meanwhile. Nothing is
   * stored. Agents do it by themselves.
   * @throws TidingsError `not_found`; `validation_failed` when the conversation is not on webchat
   */
  typing(id: string, input?: WithoutId<ShowTyping>): Promise<void>;
  /**
   * Opens a stream of who is typing on webchat: visitors, people and agents. The stream ends when
   * the loop is left, when `options.signal` aborts, or when the engine stops.
   */
  watchTyping(input?: WatchTyping, options?: StreamOptions): Promise<AsyncIterable<Typing>>;
}

/** Chats with visitors of a website. */
export interface Webchat {
  /**
   * Opens a session for a visitor's browser. Only this call returns the token: a replay returns
   * null.
   */
  open(input?: OpenWebchatSession, options?: CommandOptions): Promise<WebchatSession>;
  /**
   * Lists the webchat messages of the visitor's contact, in both directions and from all sessions,
   * newest first.
   * @throws TidingsError `not_found` when the session does not exist or has expired
   */
  messages(id: string, page?: PageQuery): Promise<WebchatMessagePage>;
  /**
   * Sends a message as the visitor of a session, as the visitor's browser does. At most 20 messages
   * in 10 seconds.
   * @throws TidingsError `not_found` when the session does not exist or has expired; `rate_limited`
   */
  sendAsVisitor(
    id: string,
    input: WithoutId<VisitorMessage>,
    options?: CommandOptions,
  ): Promise<WebchatMessage>;
  /**
   * Reports that a message was delivered or read in the visitor's browser.
   * @throws TidingsError `not_found` when the session has expired, or when the message is not in
   *   the visitor's mailbox
   */
  mark(id: string, input: WithoutId<VisitorMark>, options?: CommandOptions): Promise<void>;
  /**
   * Opens a stream of the messages to the visitor, each once and in order: those after
   * `last_event_id`, or those since the session was opened. When a message to or from the visitor
   * is redacted, the stream contains it with `body: null`. With `last_event_id`, all messages up to
   * it count as delivered. An address can have five streams in one process. One more ends the
   * oldest. The stream ends when the loop is left, when `options.signal` aborts, when the session
   * expires, or when the engine stops.
   * @throws TidingsError `not_found` when the session does not exist or has expired; `overloaded`
   */
  stream(
    id: string,
    input?: WithoutId<VisitorStream>,
    options?: StreamOptions,
  ): Promise<AsyncIterable<StreamedWebchatMessage>>;
  /**
   * Opens a stream of what the visitor sees besides messages: the state of the conversation, at
   * once and after each change, and who is typing. It counts and ends as `stream` does.
   * @throws TidingsError `not_found` when the session does not exist or has expired; `overloaded`
   */
  signals(id: string, options?: StreamOptions): Promise<AsyncIterable<WebchatSignal>>;
  /**
   * Tells people that the visitor is typing, as the visitor's browser does. It has no effect before
   * the visitor's first message. Nothing is stored.
   * @throws TidingsError `not_found` when the session does not exist or has expired
   */
  typeAsVisitor(id: string): Promise<void>;
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
  update(id: string, changes: WithoutId<UpdateSender>, options?: CommandOptions): Promise<Sender>;
  /**
   * Removes a sender. Queued messages from it still go out. New messages to its address belong to
   * no account.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}
