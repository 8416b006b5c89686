import { unqueueConversation } from "../commands/unqueue-conversation.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import type { CarrierWork } from "./send.ts";

/** Looks after conversations that nobody came for. */
export function unqueueHandler({
  services,
  policies,
}: Pick<CarrierWork, "services" | "policies">): JobHandler {
  return {
    kind: "unqueue",
    run: (claim) =>
      policies.commit(
        (tx, hostOpinions) => unqueueConversation(tx, claim, { services, hostOpinions }),
        { own: true },
      ),
  };
}
