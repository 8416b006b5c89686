import { background } from "../store/index.ts";
import { attempts, inboundIds, messages, earlyReceipts, timeline } from "./rows.ts";
import { messageHandles } from "./handles.ts";
import { messageRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";
import type { TransportRuntime } from "./transport-facts.ts";
import { retryEarlyReceipts } from "./record-receipt.ts";
import { releaseMessage } from "./waiting-messages.ts";
import { lookUpAttempt } from "./look-up-attempt.ts";
import { sendQueued } from "./send-queued.ts";

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
