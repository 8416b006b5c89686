import { recordLookup } from "./record-lookup.ts";
import { withDeadline } from "../kernel/index.ts";
import { errorFacts, finish, type JobHandler } from "../queue/index.ts";
import { attemptById, type AttemptRow, messageById, type MessageRow } from "./rows.ts";
import type { LookupAnswer, Transport } from "../ports/index.ts";
import type { CarrierRuntime } from "./carriers.ts";
import { awaitMs } from "./await-transport.ts";
import { deadlineMs, outbound, transportFor } from "./send-queued.ts";

const own = { own: true } as const;

/** Looks up an attempt whose answer was lost or whose receipts do not come. */
export function lookUpAttempt(runtime: CarrierRuntime): JobHandler<"follow-up"> {
  const { store, services, transports, carriers } = runtime;
  return async (claim, { abort }) => {
    const reads = store.reads(claim);
    const attempt = await reads.get(attemptById, [claim.key.attempt_id]);
    const message = attempt && (await reads.get(messageById, [attempt.message_id]));
    const transport = attempt && transportFor(transports, attempt);
    if (attempt !== undefined && transport === undefined) {
      // Only an engine that has the transport can look the attempt up.
      return store.commit(claim, (tx) => finish(tx, claim, { againAt: tx.now + awaitMs }), own);
    }
    const answer =
      attempt === undefined || message === undefined || transport?.lookup === undefined
        ? unknown
        : await lookUp(runtime, transport, message, attempt, abort);
    // The job runs again when its lease has lapsed.
    if (answer === "aborted") return;
    await store.commit(claim, (tx) => recordLookup(tx, claim, answer, services, carriers), own);
  };
}

const unknown: LookupAnswer = { outcome: "unknown" };

async function lookUp(
  { clock, logger }: CarrierRuntime,
  transport: Transport,
  message: MessageRow,
  attempt: AttemptRow,
  abort: AbortSignal,
): Promise<LookupAnswer | "aborted"> {
  const { id: attempt_id, number, started_at, provider_message_id } = attempt;
  const subject = { attempt_id, number, started_at, provider_message_id };
  try {
    return await withDeadline(
      clock,
      deadlineMs,
      async () => (await transport.lookup?.(outbound(message), subject)) ?? unknown,
      () => unknown,
      abort,
    );
  } catch (error) {
    if (abort.aborted) return "aborted";
    logger.warn(
      { err: errorFacts(error), transport: transport.name, attempt_id },
      "a look-up failed; it says nothing",
    );
    return unknown;
  }
}
