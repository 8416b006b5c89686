import { listContactMessages } from "./list-of-contact.ts";
import { listConversationMessages } from "./list-of-conversation.ts";
import { reply } from "./reply.ts";
import { cancelMessage } from "./cancel.ts";
import { editMessage } from "./edit.ts";
import { previewMessage } from "./preview.ts";
import { sendBatch } from "./send-batch.ts";
import { sendMessage } from "./send.ts";
import { pageSchema } from "../kernel/index.ts";
import { getMessage, getTimeline, listMessages } from "./reads.ts";
import { batchResultsSchema, messagePreviewSchema, messageSchema } from "./types.ts";
import { timelineSchema } from "./timeline-types.ts";
import type { Route } from "../operations/index.ts";

const tag = "Messages";
const read = { tag, scopes: ["messages:read"] } as const;
const write = { tag, scopes: ["messages:write"] } as const;
const message = { response: messageSchema } as const;

export const messageRoutes: readonly Route[] = [
  {
    ...write,
    ...message,
    method: "POST",
    path: "/v1/messages",
    operation: sendMessage,
    summary: "Send or schedule a message",
    description: "Answers when the message is safely queued, before it is handed over.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/messages",
    operation: listMessages,
    summary: "List messages",
    description: "Newest first.",
    response: pageSchema(messageSchema).meta({ id: "MessagePage" }),
  },
  {
    ...write,
    method: "POST",
    path: "/v1/messages/preview",
    operation: previewMessage,
    summary: "Preview a message",
    description:
      "Encoding, segments, sender and verdicts of what would be sent. Nothing is sent or kept.",
    response: messagePreviewSchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/messages/batch",
    operation: sendBatch,
    summary: "Send many messages",
    description: "One result for each item, in their order; a bad item harms no other.",
    body: "batch",
    response: batchResultsSchema,
  },
  {
    ...read,
    ...message,
    method: "GET",
    path: "/v1/messages/:id",
    operation: getMessage,
    summary: "Get a message",
  },
  {
    ...write,
    ...message,
    method: "PATCH",
    path: "/v1/messages/:id",
    operation: editMessage,
    summary: "Edit a message",
    description: "While it is scheduled; later: `not_editable`.",
  },
  {
    ...write,
    ...message,
    method: "POST",
    path: "/v1/messages/:id/cancel",
    operation: cancelMessage,
    summary: "Cancel a message",
    description:
      "While it is scheduled or queued; later: `not_cancelable`. It is canceled or it is sent, never both.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/messages/:id/timeline",
    operation: getTimeline,
    summary: "Get a message's timeline",
    description: "Transitions, attempts and receipts, also those that changed nothing.",
    response: timelineSchema,
  },
  {
    tag: "Conversations",
    scopes: ["conversations:read"],
    method: "GET",
    path: "/v1/conversations/:id/messages",
    operation: listConversationMessages,
    summary: "List the messages of a conversation",
    description: "From its end.",
    response: pageSchema(messageSchema).meta({ id: "ConversationMessagePage" }),
  },
  {
    tag: "Conversations",
    scopes: ["conversations:write", "messages:write"],
    method: "POST",
    path: "/v1/conversations/:id/messages",
    operation: reply,
    summary: "Reply as a person",
    description:
      "On the conversation's medium, to the address of its last message. The person takes the conversation over at once; a closed one is opened again.",
    response: messageSchema,
  },
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/messages",
    operation: listContactMessages,
    summary: "List a contact's messages",
    description:
      "On all channels, newest first. Of a merged contact, those of the one that it is now.",
    response: pageSchema(messageSchema).meta({ id: "ContactMessagePage" }),
  },
];
