import { background } from "../store/index.ts";
import { attempts, earlyReceipts, inboundIds, messages, timeline } from "./rows.ts";
import { messageRoutes } from "./routes.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  method,
  type Module,
  query,
  queryById,
  queryByIdAndInput,
} from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";
import type { TransportRuntime } from "./transport-facts.ts";
import { retryEarlyReceipts } from "./record-receipt.ts";
import { cancelMessage, editMessage, releaseMessage } from "./waiting-messages.ts";
import { lookUpAttempt } from "./look-up-attempt.ts";
import { sendQueued } from "./send-queued.ts";
import { previewMessage } from "./preview.ts";
import {
  getMessage,
  getTimeline,
  listContactMessages,
  listConversationMessages,
  listMessages,
} from "./reads.ts";
import { reply } from "./reply.ts";
import { sendBatch, sendMessage } from "./send.ts";
import type { PreviewMessage } from "./input-types.ts";

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
    list: query(listMessages),
    timeline: queryById(getTimeline),
    edit: commandByIdAndInput(editMessage),
    cancel: commandById(cancelMessage),
  },
  contacts: {
    messages: queryByIdAndInput(listContactMessages),
  },
  conversations: {
    messages: queryByIdAndInput(listConversationMessages),
    reply: commandByIdAndInput(reply),
  },
};

const jobs: Pick<JobTable<TransportRuntime>, "send" | "follow-up" | "release" | "early-receipt"> = {
  send: sendQueued,
  "follow-up": lookUpAttempt,
  release: inTransaction((tx, claim, { drawId }) => releaseMessage(tx, claim, drawId)),
  "early-receipt":
    ({ store, services }) =>
    (claim) =>
      store.commitUnscoped((tx) => retryEarlyReceipts(tx, claim, services), background),
};

export const messagesModule: Module<typeof jobs, typeof messageHandles> = {
  collections: [messages, attempts, timeline, earlyReceipts, inboundIds],
  jobs,
  tags: [{ name: "Messages", description: "Send, schedule, track and cancel messages." }],
  routes: messageRoutes,
  handles: messageHandles,
};
