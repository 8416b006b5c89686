/**
 * The attempts of a message whose answer is lost. Each may have sent it, so the message cannot fail
 * or expire: it is `ambiguous` until their look-ups tell.
 */
import type { Services } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { armFollowUps } from "../job-orders.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { stateOf } from "../stored-state.ts";
import { writeState } from "../write-state.ts";
import {
  ambiguousInstead,
  answerLost,
  type AfterAttempt,
  type Ending,
  type Lost,
} from "./attempt-rules.ts";
import { listAttempts } from "./message-attempts.ts";

/** Returns the lost attempts of a message except the given one, oldest first. */
async function findLostAttempts(
  tx: Tx,
  message: MessageRow,
  except?: AttemptRow,
): Promise<readonly AttemptRow[]> {
  const all = await listAttempts(tx, message, except);
  return all.filter(({ outcome }) => outcome === "ambiguous");
}

/** Lets a message end unless another attempt than `attempt` may have sent it. */
export async function checkLostAttempts(
  tx: Tx,
  message: MessageRow,
  decision: AfterAttempt,
  attempt: AttemptRow,
): Promise<AfterAttempt> {
  return decision.decision === "failed" || decision.decision === "expired"
    ? endUnlessLost(tx, message, decision, attempt)
    : decision;
}

async function endUnlessLost(
  tx: Tx,
  message: MessageRow,
  ending: Ending,
  except?: AttemptRow,
): Promise<Ending | Lost> {
  const last = (await findLostAttempts(tx, message, except)).at(-1);
  if (last === undefined) return ending;
  return ambiguousInstead(ending, stateOf(message), last.error ?? answerLost);
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
  ending: Ending,
): Promise<Seen<MessageRow>> {
  const { state } = await endUnlessLost(tx, message, ending);
  const updated = await writeState(tx, message, state);
  if (updated.status === "ambiguous") await followUpLostAttempts(tx, services, updated);
  return updated;
}
