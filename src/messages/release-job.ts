import { releaseMessage } from "./release.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "./send-job.ts";
import { scopeOf } from "../queue/scope.ts";

/** Queues scheduled messages when their time has come. */
export function releaseHandler({
  store,
  drawId,
}: Pick<CarrierWork, "store" | "drawId">): JobHandler {
  return {
    kind: "release",
    run: (claim) =>
      store.commit(scopeOf(claim), (tx) => releaseMessage(tx, claim, drawId), { own: true }),
  };
}
