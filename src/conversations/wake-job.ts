import { wakeConversation } from "./wake.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "../messages/send-job.ts";
import { scopeOf } from "../queue/scope.ts";

/** Opens snoozed conversations when their time has come. */
export function wakeHandler({ store, drawId }: Pick<CarrierWork, "store" | "drawId">): JobHandler {
  return {
    kind: "wake",
    run: (claim) =>
      store.commit(scopeOf(claim), (tx) => wakeConversation(tx, claim, drawId), { own: true }),
  };
}
