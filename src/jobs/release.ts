import { releaseMessage } from "../commands/release-message.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { CarrierWork } from "./send.ts";

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
