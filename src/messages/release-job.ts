import { releaseMessage } from "./release.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "./send-job.ts";

/** Queues scheduled messages when their time has come. */
export function releaseHandler({
  store,
  drawId,
}: Pick<CarrierWork, "store" | "drawId">): JobHandler {
  return {
    kind: "release",
    run: (claim) => store.commit((tx) => releaseMessage(tx, claim, drawId), { own: true }),
  };
}
