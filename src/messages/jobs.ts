import { inTransaction, type JobTable, leaseMs } from "../queue/index.ts";
import { giveTurns } from "./release-throttled.ts";
import type { CarrierRuntime } from "./carriers.ts";
import { applyEarlyReceipt } from "./apply-early-receipt.ts";
import { releaseMessage } from "./release.ts";
import { lookUpAttempt } from "./look-up-attempt.ts";
import { sendQueued } from "./send-queued.ts";

export const messageJobs: Pick<
  JobTable<CarrierRuntime>,
  "send" | "follow-up" | "release" | "early-receipt" | "throttle"
> = {
  send: sendQueued,
  "follow-up": lookUpAttempt,
  throttle: inTransaction((tx, claim) => giveTurns(tx, claim, leaseMs)),
  release: inTransaction((tx, claim, { drawId }) => releaseMessage(tx, claim, drawId)),
  "early-receipt":
    ({ store, services }) =>
    (claim) =>
      store.commitUnscoped((tx) => applyEarlyReceipt(tx, claim, services), { own: true }),
};
