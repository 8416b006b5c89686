import { pageSchema } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  list,
  listById,
  method,
  queryById,
  type ApiRoute,
  type Module,
  type Runtime,
} from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";
import { background } from "../store/index.ts";
import { sendQueued } from "./hand-over/send-queued.ts";
import type { PreviewMessage } from "./input-types.ts";
import { lookUpAttempt } from "./look-ups/look-up-attempt.ts";
import {
  getMessage,
  listContactMessages,
  listConversationMessages,
  listMessages,
} from "./reads.ts";
import { retryEarlyReceipts } from "./receipts/record-receipt.ts";
import { attempts, earlyReceipts, inboundIds, messages, messageWords, timeline } from "./rows.ts";
import { searchConversations } from "./search/search-conversations.ts";
import { conversationMatchSchema } from "./search/search-types.ts";
import { batchResultsSchema } from "./sending/batch-types.ts";
import { cancelMessage } from "./sending/cancel.ts";
import { editMessage } from "./sending/edit.ts";
import { messagePreviewSchema } from "./sending/preview-types.ts";
import { previewMessage } from "./sending/preview.ts";
import { releaseMessage } from "./sending/release.ts";
import { reply } from "./sending/reply.ts";
import { sendBatch } from "./sending/send-batch.ts";
import { sendMessage } from "./sending/send.ts";
import { getTimeline } from "./timeline/get-timeline.ts";
import { timelineSchema } from "./timeline/timeline-types.ts";
import { messageSchema } from "./types.ts";

const tag = "Messages";
const read = { tag, scopes: ["messages:read"] } as const;
const write = { tag, scopes: ["messages:write"] } as const;
const message = { response: messageSchema } as const;

const messageRoutes: readonly ApiRoute[] = [
  {
    ...write,
    ...message,
    method: "POST",
    path: "/v1/messages",
    operation: sendMessage,
    summary: "Send or schedule a message",
    description:
      "Responds when the message is stored and queued, before it is handed over to a carrier. " +
      "Each later change of its status publishes the event `message.updated`.",
    example: {
      to: "+15005550001",
      body: "Your order 1042 is ready.",
      metadata: { order_id: "1042" },
    },
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
      "Returns the encoding, segments, sender and policy verdicts of a message. Nothing is sent " +
      "or stored, so an idempotency key is ignored.",
    response: messagePreviewSchema,
    example: { to: "+15005550001", body: "Your order 1042 is ready. 🎉" },
  },
  {
    ...write,
    method: "POST",
    path: "/v1/messages/batch",
    operation: sendBatch,
    summary: "Send many messages",
    description:
      "Takes up to 1,000 messages in up to 8 MiB by default. Returns one result for each, in " +
      "request order. An invalid message does not affect the others.",
    body: "batch",
    response: batchResultsSchema,
    example: {
      messages: [
        { to: "+15005550001", body: "Your order 1042 is ready." },
        { to: "+15005550002", body: "Your order 1043 is ready.", metadata: { order_id: "1043" } },
      ],
    },
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
    description:
      "Only a scheduled message can be edited. Any other status returns `not_editable`, and so " +
      "does a message that a policy deferred after an attempt that may have sent it.",
    example: { body: "Your order 1042 is ready for pick-up.", metadata: { order_id: "1042" } },
  },
  {
    ...write,
    ...message,
    method: "POST",
    path: "/v1/messages/:id/cancel",
    operation: cancelMessage,
    summary: "Cancel a message",
    description:
      "Only a scheduled or queued message can be canceled. Any other status returns " +
      "`not_cancelable`. A canceled message is not handed over again.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/messages/:id/timeline",
    operation: getTimeline,
    summary: "Get a message's timeline",
    description:
      "Lists status changes, attempts, receipts and look-ups, including those that changed " +
      "nothing.",
    response: timelineSchema,
  },
  {
    tag: "Conversations",
    scopes: ["conversations:read"],
    method: "GET",
    path: "/v1/conversations/search",
    operation: searchConversations,
    summary: "Search conversations",
    description:
      "Finds words and prefixes of words in the names, addresses and attributes of contacts, in " +
      "labels, and in the messages of contacts, people and agents. A contact that matches stands " +
      "for its latest conversation on each medium. Messages of programs are not searched. The " +
      "result is one page: conversations whose contact or label matches come first, then those " +
      "with the newest matching message. If thousands of messages match, only a sample of them " +
      "is searched. The filters are those of the list. They apply to all contacts and messages " +
      "that were found, and to the latest 250 conversations with a matching label.",
    response: pageSchema(conversationMatchSchema).meta({ id: "ConversationMatchPage" }),
  },
  {
    tag: "Conversations",
    scopes: ["conversations:read"],
    method: "GET",
    path: "/v1/conversations/:id/messages",
    operation: listConversationMessages,
    summary: "List the messages of a conversation",
    description:
      "In the order in which they took their places (`placed_at`), newest first. Messages that " +
      "wait for their time come before all others.",
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
      "Sends on the conversation's medium to the address of its last message. The person takes " +
      "over the conversation at once. A closed conversation is reopened. If a newer one has " +
      "replaced it, the request fails with `conflict`, and `conflicting_id` is the newer one.",
    response: messageSchema,
    example: { body: "Yes, we open at nine.", author_id: "user_17" },
  },
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/messages",
    operation: listContactMessages,
    summary: "List a contact's messages",
    description:
      "All channels, newest first. For a merged contact, lists the messages of the contact that " +
      "it was merged into.",
    response: pageSchema(messageSchema).meta({ id: "ContactMessagePage" }),
  },
];

const messageHandles = {
  messages: {
    send: command(sendMessage),
    batch: command(sendBatch),
    preview: method(
      ({ change }) =>
        (input: PreviewMessage) =>
          change(previewMessage, input, undefined),
    ),
    get: queryById(getMessage),
    list: list(listMessages),
    timeline: queryById(getTimeline),
    edit: commandByIdAndInput(editMessage),
    cancel: commandById(cancelMessage),
  },
  contacts: {
    messages: listById(listContactMessages),
  },
  conversations: {
    search: list(searchConversations),
    messages: listById(listConversationMessages),
    reply: commandByIdAndInput(reply),
  },
};

const jobs: Pick<JobTable<Runtime>, "send" | "follow-up" | "release" | "early-receipt"> = {
  send: sendQueued,
  "follow-up": lookUpAttempt,
  release: inTransaction((tx, claim, { services }) => releaseMessage(tx, claim, services)),
  "early-receipt":
    ({ store, services }) =>
    (claim) =>
      store.commitUnscoped((tx) => retryEarlyReceipts(tx, services, claim), background),
};

export const messagesModule: Module<typeof jobs, typeof messageHandles> = {
  collections: [messages, messageWords, attempts, timeline, earlyReceipts, inboundIds],
  jobs,
  tags: [{ name: "Messages", description: "Send, schedule, track and cancel messages." }],
  routes: messageRoutes,
  handles: messageHandles,
};
