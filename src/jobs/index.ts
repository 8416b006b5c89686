import type { JobHandler } from "../dispatch/dispatcher.ts";
import { deliverHandler, type DeliverWork } from "./deliver.ts";
import { consumeHandler, type ConsumeWork } from "./consume.ts";
import { discardHandler } from "./discard.ts";
import { eraseHandler } from "./erase.ts";
import { followUpHandler } from "./follow-up.ts";
import { mergeHandler } from "./merge.ts";
import { paceHandler } from "./pace.ts";
import { reapHandler } from "./reap.ts";
import type { ReapEvents } from "./reap-events.ts";
import { recoverHandler } from "./recover.ts";
import { releaseHandler } from "./release.ts";
import { scoreHandler, type ScoreWork } from "./score.ts";
import { type CarrierWork, sendHandler } from "./send.ts";
import { turnHandler, type TurnWork } from "./turn.ts";
import { unparkHandler } from "./unpark.ts";
import { unqueueHandler } from "./unqueue.ts";
import { wakeHandler } from "./wake.ts";

/** All that happens later. */
export function jobHandlers(
  work: CarrierWork & ConsumeWork & DeliverWork & ScoreWork & ReapEvents & TurnWork,
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
