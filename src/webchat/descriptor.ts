import { markWebchatMessage, receiveWebchatMessage, webchatStream } from "./visitor-messages.ts";
import { openWebchatSession } from "./sessions.ts";
import { listVisitorMessages } from "./visitor-history.ts";
import {
  type OpenWebchatSession,
  type StreamedWebchatMessage,
  type VisitorStream,
  type WebchatMessage,
  webchatMessagePageSchema,
  webchatMessageSchema,
  webchatSessionSchema,
} from "./types.ts";
import {
  type ApiRoute,
  type Changes,
  commandByIdAndInput,
  type CommandOptions,
  method,
  type Module,
  queryByIdAndInput,
  type StreamItem,
  type StreamOptions,
} from "../operations/index.ts";
import { mail, mailboxes, webchatSessions } from "./rows.ts";

const tag = "Webchat";
const visitor = { tag, visitor: true } as const;

const webchatRoutes: readonly ApiRoute[] = [
  {
    tag,
    scopes: ["conversations:write"],
    method: "POST",
    path: "/v1/webchat/sessions",
    operation: openWebchatSession,
    summary: "Open a visitor session",
    description:
      "Call it from your server and pass the id and the token to the visitor's browser. The " +
      "browser needs nothing else.",
    response: webchatSessionSchema,
  },
  {
    ...visitor,
    method: "POST",
    path: "/v1/webchat/sessions/:id/messages",
    operation: receiveWebchatMessage,
    summary: "Send a message as the visitor",
    description: "The limit is 20 messages in 10 seconds.",
    response: webchatMessageSchema,
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
  },
  {
    ...visitor,
    method: "GET",
    path: "/v1/webchat/sessions/:id/stream",
    operation: webchatStream,
    summary: "Stream the visitor's messages",
    description:
      "Sends each message once and in order, also across reconnections. An event's `data` is a " +
      "`WebchatMessage`, and its `id` is the message's number in the mailbox. When a browser " +
      "reconnects with an id, all messages up to it count as delivered. An address can have five " +
      "streams. One more ends the oldest.",
  },
];

const webchatHandles = {
  webchat: {
    open: method(
      ({ change }) =>
        (input: OpenWebchatSession = {}, options?: CommandOptions) =>
          change(openWebchatSession, input, options),
    ),
    messages: queryByIdAndInput(listVisitorMessages),
    sendAsVisitor: commandByIdAndInput(receiveWebchatMessage),
    mark: commandByIdAndInput(markWebchatMessage),
    stream: method(
      ({ open }) =>
        async (id: string, input: Changes<VisitorStream> = {}, options?: StreamOptions) =>
          messagesOf(await open(webchatStream, { ...input, id }, options)),
    ),
  },
};

async function* messagesOf(
  items: AsyncIterable<StreamItem<WebchatMessage>>,
): AsyncGenerator<StreamedWebchatMessage, void> {
  for await (const { id, value } of items) yield { id, message: value };
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
