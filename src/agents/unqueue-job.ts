import { unqueueConversation } from "./unqueue.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import type { CarrierWork } from "../messages/send-job.ts";
import { scopeOf } from "../queue/scope.ts";

/** Looks after conversations that nobody came for. */
export function unqueueHandler({
  services,
  policies,
}: Pick<CarrierWork, "services" | "policies">): JobHandler {
  return {
    kind: "unqueue",
    run: (claim) =>
      policies.commit(
        scopeOf(claim),
        (tx, hostOpinions) => unqueueConversation(tx, claim, { services, hostOpinions }),
        { own: true },
      ),
  };
}
