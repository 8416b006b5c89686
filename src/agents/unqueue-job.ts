import { unqueueConversation } from "./unqueue.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "../messages/send-job.ts";

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
