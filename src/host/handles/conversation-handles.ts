import type { ListRuns, Run } from "../../agents/index.ts";
import type {
  AddNote,
  Assignee,
  Conversation,
  HandOffConversation,
  ListConversations,
  Note,
  OpenConversation,
  UpdateConversation,
} from "../../conversations/index.ts";
import type { PageQuery } from "../../kernel/index.ts";
import type {
  ConversationMatch,
  Message,
  Reply,
  SearchConversations,
} from "../../messages/index.ts";
import type {
  CommandOptions,
  PagePromise,
  StreamOptions,
  TxOptions,
  WithSecrets,
} from "../../operations/index.ts";
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
} from "../../webchat/index.ts";

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
   * can be empty although more pages follow.
   */
  list(filters?: ListConversations): PagePromise<Conversation>;
  /**
   * Searches by words or prefixes of words in contacts, labels and messages, or by the start of a
   * phone number. A contact that matches stands for its latest conversation on each medium. Returns
   * one page: `next_cursor` is null.
   */
  search(query: SearchConversations): PagePromise<ConversationMatch>;
  /**
   * Opens, snoozes or closes a conversation, or changes its priority, metadata or suspected
   * opt-out. Absent fields keep their value.
   * @throws TidingsError `conflict` when it would reopen a conversation that a newer one has
   *   replaced
   */
  update(id: string, changes: UpdateConversation, options?: CommandOptions): Promise<Conversation>;
  /**
   * Lists the messages of the conversation in the order of `placed_at`, newest first. Messages
   * that wait for their time come before all others.
   */
  messages(id: string, page?: PageQuery): PagePromise<Message>;
  /**
   * Sends a message from a person, to the address of the conversation's last message. That person
   * takes over the conversation. A closed conversation is reopened.
   * @throws TidingsError as `messages.send` does; `conflict` when the contact has no address on the
   *   medium any more, or when a newer conversation has replaced this one
   */
  reply(id: string, input: Reply, options?: CommandOptions): Promise<Message>;
  /** Lists the notes of the conversation, newest first. */
  notes(id: string, page?: PageQuery): PagePromise<Note>;
  /** Adds an internal note. The contact never sees it. */
  addNote(id: string, input: AddNote, options?: CommandOptions): Promise<Note>;
  /**
   * Assigns the conversation to a person or an agent. Null removes the assignment: a person's
   * conversation then waits in the queue, an agent's has no handler. A snoozed conversation opens
   * if it is assigned to an agent.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  assign(id: string, assignee: Assignee | null, options?: CommandOptions): Promise<Conversation>;
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
  handOff(id: string, input: HandOffConversation, options?: CommandOptions): Promise<Conversation>;
  /**
   * Returns the conversation to its agent, and opens it if it is snoozed, even if the agent already
   * has it. If it has no agent, it then has no handler and no assignee, and stays snoozed if it is.
   * A conversation without a handler stays unchanged.
   * @throws TidingsError `conflict` when the conversation is closed
   */
  handBack(id: string, options?: CommandOptions): Promise<Conversation>;
  /**
   * Lists the runs of all agents in the conversation, newest first. A filtered page can be empty
   * although more pages follow.
   */
  runs(id: string, filters?: ListRuns): PagePromise<Run>;
  /**
   * Tells the visitor of a webchat conversation, and colleagues, that a person is typing. It holds
   * for 6 seconds, or until the person's message: repeat it every 3 seconds meanwhile. Nothing is
   * stored. Agents do it by themselves.
   * @throws TidingsError `not_found`; `validation_failed` when the conversation is not on webchat
   */
  typing(id: string, input?: ShowTyping): Promise<void>;
  /**
   * Opens a stream of who is typing on webchat: visitors, people and agents. The stream ends when
   * the loop is left, when `options.signal` aborts, or when the engine stops.
   */
  watchTyping(input?: WatchTyping, options?: StreamOptions): Promise<AsyncIterable<Typing>>;
}

/** Chats with visitors of a website. */
export interface Webchat {
  /** Opens a session for a visitor's browser. Only this call returns its token and return key. */
  open(
    input?: OpenWebchatSession,
    options?: TxOptions,
  ): Promise<WithSecrets<WebchatSession, "token" | "return_key">>;
  /** Opens a session once. A replay returns null instead of the token and the return key. */
  open(input?: OpenWebchatSession, options?: CommandOptions): Promise<WebchatSession>;
  /**
   * Lists the webchat messages of the visitor's contact, in both directions and from all sessions,
   * newest first.
   * @throws TidingsError `not_found` when the session does not exist or has expired
   */
  messages(id: string, page?: PageQuery): PagePromise<WebchatMessage, WebchatMessagePage>;
  /**
   * Sends a message as the visitor of a session, as the visitor's browser does. At most 20 messages
   * in 10 seconds.
   * @throws TidingsError `not_found` when the session does not exist or has expired; `rate_limited`
   */
  sendAsVisitor(
    id: string,
    input: VisitorMessage,
    options?: CommandOptions,
  ): Promise<WebchatMessage>;
  /**
   * Reports that a message was delivered or read in the visitor's browser.
   * @throws TidingsError `not_found` when the session has expired, or when the message is not in
   *   the visitor's mailbox
   */
  mark(id: string, input: VisitorMark, options?: CommandOptions): Promise<void>;
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
    input?: VisitorStream,
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
