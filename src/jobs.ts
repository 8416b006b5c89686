import type { JobHandler } from "./queue/dispatcher.ts";
import { deliverHandler, type DeliverWork } from "./webhooks/deliver-job.ts";
import { consumeHandler, type ConsumeWork } from "./events/consume-job.ts";
import { discardHandler } from "./webhooks/discard-job.ts";
import { eraseHandler } from "./privacy/erase-job.ts";
import { followUpHandler } from "./messages/follow-up-job.ts";
import { mergeHandler } from "./privacy/merge-job.ts";
import { paceHandler } from "./messages/throttle-job.ts";
import { reapHandler, type ReapWork } from "./privacy/reap-job.ts";
import { recoverHandler } from "./webhooks/recover-job.ts";
import { releaseHandler } from "./messages/release-job.ts";
import { scoreHandler, type ScoreWork } from "./sentiment/score-job.ts";
import { type CarrierWork, sendHandler } from "./messages/send-job.ts";
import { turnHandler, type TurnWork } from "./agents/turn-job.ts";
import { unparkHandler } from "./messages/early-receipts-job.ts";
import { unqueueHandler } from "./agents/unqueue-job.ts";
import { wakeHandler } from "./conversations/wake-job.ts";

/** All that happens later. */
export function jobHandlers(
  work: CarrierWork & ConsumeWork & DeliverWork & ScoreWork & ReapWork & TurnWork,
): readonly JobHandler[] {
  return [
    sendHandler(work),
    followUpHandler(work),
    releaseHandler(work),
    paceHandler(work),
    wakeHandler(work),
    mergeHandler(work),
    eraseHandler(work),
    unparkHandler(work),
    consumeHandler(work),
    deliverHandler(work),
    recoverHandler(work),
    discardHandler(work),
    scoreHandler(work),
    turnHandler(work),
    unqueueHandler(work),
    reapHandler(work),
  ];
}
