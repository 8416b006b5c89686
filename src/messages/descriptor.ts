import { background } from "../store/index.ts";
import { attempts, inboundIds, messages, earlyReceipts, timeline } from "./rows.ts";
import { messageRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";
import { inTransaction, type JobTable, leaseMs } from "../queue/index.ts";
import { releaseThrottled } from "./release-throttled.ts";
import type { CarrierRuntime } from "./carriers.ts";
import { retryEarlyReceipts } from "./record-receipt.ts";
import { releaseMessage } from "./waiting-messages.ts";
import { lookUpAttempt } from "./look-up-attempt.ts";
import { sendQueued } from "./send-queued.ts";

export const messagesModule: Module = {
  collections: [messages, attempts, timeline, earlyReceipts, inboundIds],
  tags: [{ name: "Messages", description: "Send, schedule, track and cancel messages." }],
  routes: [...messageRoutes],
};

export const messageJobs: Pick<
  JobTable<CarrierRuntime>,
  "send" | "follow-up" | "release" | "early-receipt" | "throttle"
> = {
  send: sendQueued,
  "follow-up": lookUpAttempt,
  throttle: inTransaction((tx, claim) => releaseThrottled(tx, claim, leaseMs)),
  release: inTransaction((tx, claim, { drawId }) => releaseMessage(tx, claim, drawId)),
  "early-receipt":
    ({ store, services }) =>
    (claim) =>
      store.commitUnscoped((tx) => retryEarlyReceipts(tx, claim, services), background),
};
