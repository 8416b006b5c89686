import { recordLookup } from "./record-lookup.ts";
import { withDeadline } from "../queue/deadline.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import { attemptById, type AttemptRow, messageById, type MessageRow } from "./rows.ts";
import type { LookupAnswer, Transport } from "../ports/transport.ts";
import { awaitMs } from "./await-transport.ts";
import { errorFacts } from "../queue/error-facts.ts";
import { type CarrierWork, deadlineMs, outbound, transportFor } from "./send-job.ts";
import { scopeOf } from "../queue/scope.ts";

/** Looks up attempts whose answer was lost or whose receipts stay away. */
export function followUpHandler({
  store,
  clock,
  logger,
  services,
  transports,
  carriers,
}: CarrierWork): JobHandler {
  return {
    kind: "follow-up",
    async run(claim, { abort }) {
      const scope = scopeOf(claim);
      const reads = store.reads(scope);
      const attempt = await reads.get(attemptById, [claim.key]);
      const message = attempt && (await reads.get(messageById, [attempt.message_id]));
      const transport = attempt && transportFor(transports, attempt);
      if (attempt !== undefined && transport === undefined) {
        // Only an engine that has the transport knows what it can be asked and what it tells of itself.
        return store.commit(scope, (tx) => finish(tx, claim, { againAt: tx.now + awaitMs }), {
          own: true,
        });
      }
      let answer: LookupAnswer = { outcome: "unknown" };
      if (attempt !== undefined && message !== undefined && transport?.lookup !== undefined) {
        try {
          answer = await withDeadline<LookupAnswer>(
            clock,
            deadlineMs,
            abort,
            () => lookUp(transport, message, attempt),
            () => answer,
          );
        } catch (error) {
          // It is looked up again when the lease has lapsed.
          if (abort.aborted) return;
          logger.warn(
            { err: errorFacts(error), transport: transport.name, attempt_id: attempt.id },
            "a look-up failed; it says nothing",
          );
        }
      }
      await store.commit(scope, (tx) => recordLookup(tx, claim, answer, services, carriers), {
        own: true,
      });
    },
  };
}

async function lookUp(
  transport: Transport,
  message: MessageRow,
  attempt: AttemptRow,
): Promise<LookupAnswer> {
  const { id: attempt_id, number, started_at, provider_message_id } = attempt;
  const about = { attempt_id, number, started_at, provider_message_id };
  return (await transport.lookup?.(outbound(message), about)) ?? { outcome: "unknown" };
}
