import { wakeConversation } from "../commands/wake-conversation.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { CarrierWork } from "./send.ts";

/** Opens snoozed conversations when their time has come. */
export function wakeHandler({ store, drawId }: Pick<CarrierWork, "store" | "drawId">): JobHandler {
  return {
    kind: "wake",
    run: (claim) => store.commit((tx) => wakeConversation(tx, claim, drawId), { own: true }),
  };
}
