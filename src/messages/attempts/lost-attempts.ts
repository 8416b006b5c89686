/**
 * The attempts of a message whose answer is lost. Each may have sent it, so the message cannot fail
 * or expire: it is `ambiguous` until their look-ups tell.
 */
import { type AfterAttempt, ambiguousIfLost, answerLost } from "./attempt-rules.ts";
import { listAttempts } from "./message-attempts.ts";
import { moveMessage } from "../move.ts";
import { stateOf } from "../stored-state.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { armFollowUps } from "../job-orders.ts";
import type { Services } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";

/** Returns the lost attempts of a message except the given one, oldest first. */
async function findLostAttempts(
  tx: Tx,
  message: MessageRow,
  except?: AttemptRow,
): Promise<readonly AttemptRow[]> {
  const all = await listAttempts(tx, message, except);
  return all.filter(({ outcome }) => outcome === "ambiguous");
}

/** Applies `ambiguousIfLost` with the attempts of the message, except `attempt`. */
export async function checkLostAttempts(
  tx: Tx,
  message: MessageRow,
  decision: AfterAttempt,
  attempt?: AttemptRow,
): Promise<AfterAttempt> {
  if (decision.decision !== "failed" && decision.decision !== "expired") return decision;
  const last = (await findLostAttempts(tx, message, attempt)).at(-1);
  return ambiguousIfLost(decision, stateOf(message), last && (last.error ?? answerLost));
}

/**
 * Schedules the look-ups of the lost attempts except the given one. They had none while a later
 * attempt was under way.
 */
export async function followUpLostAttempts(
  tx: Tx,
  services: Services,
  message: MessageRow,
  except?: AttemptRow,
): Promise<void> {
  await armFollowUps(tx, services, message, await findLostAttempts(tx, message, except));
}

/**
 * Ends a queued message that is denied or has expired. It becomes `ambiguous` if an attempt may
 * have sent it.
 */
export async function endQueued(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  end: Extract<AfterAttempt, { decision: "failed" | "expired" }>,
): Promise<Seen<MessageRow>> {
  const decision = await checkLostAttempts(tx, message, end);
  const state = decision.decision === "none" ? end.state : decision.state;
  const updated = await moveMessage(tx, message, state);
  if (updated.status === "ambiguous") await followUpLostAttempts(tx, services, updated);
  return updated;
}
