import {
  commandByIdAndInput,
  inputWith,
  listById,
  method,
  type ApiRoute,
  type CommandOptions,
  type Module,
  type StreamItem,
  type StreamOptions,
  type TransientItem,
} from "../operations/index.ts";
import { mail, mailboxes, webchatSessions } from "./rows.ts";
import { openWebchatSession } from "./sessions/open-session.ts";
import { webchatSessionSchema, type OpenWebchatSession } from "./sessions/session-types.ts";
import type {
  ShowTyping,
  Typing,
  WatchTyping,
  WebchatSignal,
  WebchatState,
  WebchatTyping,
} from "./streams/signal-types.ts";
import { showTyping, showVisitorTyping, typingStream } from "./streams/typing.ts";
import { webchatStream } from "./streams/visitor-stream.ts";
import {
  webchatMessagePageSchema,
  webchatMessageSchema,
  type StreamedWebchatMessage,
  type VisitorStream,
  type WebchatMessage,
} from "./types.ts";
import { listVisitorMessages } from "./visitor-history.ts";
import { markWebchatMessage, receiveWebchatMessage } from "./visitor-messages.ts";

const tag = "Webchat";
const visitor = { tag, visitor: true } as const;

const typingDescription =
  "The report holds for 6 seconds, or until the message arrives: repeat it every 3 seconds while " +
  "the person types. Nothing is stored. Several reports in one second have the effect of one.";

const webchatRoutes: readonly ApiRoute[] = [
  {
    tag,
    scopes: ["conversations:write"],
    method: "POST",
    path: "/v1/webchat/sessions",
    operation: openWebchatSession,
    summary: "Open a webchat session",
    description:
      "Call it from your server and pass the id and the token to the visitor's browser. The " +
      "browser needs nothing else.",
    response: webchatSessionSchema,
    example: { name: "Ann Archer" },
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/messages",
    operation: receiveWebchatMessage,
    summary: "Send a message as the visitor",
    description: "The limit is 20 messages in 10 seconds. One more gets 429 `rate_limited`.",
    response: webchatMessageSchema,
    example: { body: "Are you open today?", client_id: "b7c1" },
  },
  {
    ...visitor,
    method: "GET",
    path: "/v1/webchat/sessions/:id/messages",
    operation: listVisitorMessages,
    summary: "List the visitor's messages",
    description:
      "Lists the webchat messages of the visitor's contact, in both directions and from all " +
      "sessions, newest first. A redacted message has no body. `last_event_id` is where a stream " +
      "continues the list.",
    response: webchatMessagePageSchema,
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/marks",
    operation: markWebchatMessage,
    summary: "Mark a message as delivered or read",
    description:
      "Marks this message only, not those before it. A message that is read was also delivered.",
    example: { message_id: "msg_01KJPWD6M04SCGJ6C24SRZVBJ4", mark: "read" },
  },
  {
    ...visitor,
    method: "GET",
    path: "/v1/webchat/sessions/:id/stream",
    operation: webchatStream,
    summary: "Stream the visitor's messages",
    description:
      "Sends each message once and in order, even across reconnections. An event's `data` is a " +
      "`WebchatMessage`, and its `id` is the message's number in the mailbox. When a browser " +
      "reconnects with an id, all messages up to it count as delivered. An address can have five " +
      "streams. One more ends the oldest. When a message to or from the visitor is redacted, an " +
      "`event: redaction` has the message without its text. Events without an id report the " +
      "present state. `event: state` has a `WebchatState`: when the stream opens, and after each " +
      "change. `event: typing` has the `author` (`human` or `agent`) and the `author_name` of " +
      "somebody who is typing. It holds for 6 seconds, or until the message arrives.",
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/typing",
    operation: showVisitorTyping,
    summary: "Report that the visitor is typing",
    description: typingDescription,
  },
  {
    tag: "Conversations",
    scopes: ["conversations:write"],
    method: "POST",
    path: "/v1/conversations/:id/typing",
    operation: showTyping,
    summary: "Report that a person is typing",
    description: `On webchat only. ${typingDescription} For agents, the engine does it.`,
    example: { author_id: "user_17" },
  },
];

const webchatHandles = {
  webchat: {
    open: method(
      ({ change }) =>
        (input: OpenWebchatSession = {}, options?: CommandOptions) =>
          change(openWebchatSession, input, options),
    ),
    messages: listById(listVisitorMessages),
    sendAsVisitor: commandByIdAndInput(receiveWebchatMessage),
    mark: commandByIdAndInput(markWebchatMessage),
    typeAsVisitor: method(
      ({ signal }) =>
        (id: string) =>
          signal(showVisitorTyping, { id }),
    ),
    stream: method(
      ({ open }) =>
        (id: string, input: VisitorStream = {}, options?: StreamOptions) =>
          open(webchatStream, inputWith({ id }, input), messageOf, options),
    ),
    signals: method(
      ({ open }) =>
        (id: string, options?: StreamOptions) =>
          open(webchatStream, { id }, signalOf, options),
    ),
  },
  conversations: {
    typing: method(
      ({ signal }) =>
        (id: string, input: ShowTyping = {}) =>
          signal(showTyping, inputWith({ id }, input)),
    ),
    watchTyping: method(
      ({ open }) =>
        (input: WatchTyping = {}, options?: StreamOptions) =>
          open(typingStream, input, typingOf, options),
    ),
  },
};

type Item<Value> = StreamItem<Value> | TransientItem;

function messageOf(item: Item<WebchatMessage>): StreamedWebchatMessage | undefined {
  return "value" in item ? { id: item.id, message: item.value } : undefined;
}

/** The casts are safe: the visitor's stream has two kinds of transient items. */
function signalOf(item: Item<WebchatMessage>): WebchatSignal | undefined {
  if ("value" in item) return undefined;
  const { event, transient } = item;
  return event === "state"
    ? { type: "state", state: transient as WebchatState }
    : { type: "typing", typing: transient as WebchatTyping };
}

/** The cast is safe: the stream has one kind of items. */
function typingOf(item: Item<never>): Typing | undefined {
  return "transient" in item ? (item.transient as Typing) : undefined;
}

export const webchatModule: Module<object, typeof webchatHandles> = {
  collections: [webchatSessions, mailboxes, mail],
  tags: [
    {
      name: "Webchat",
      description: "Sessions for visitors of your pages, and the requests of their browsers.",
    },
  ],
  routes: webchatRoutes,
  handles: webchatHandles,
};
