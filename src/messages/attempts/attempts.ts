/** The attempts of a message: one for each call to a carrier. */
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";
import { isTransportError } from "../routes/route-rules.ts";
import { attemptsOfMessage, type AttemptRow, type MessageRow } from "../rows.ts";

/** A message, and one of its attempts. */
export interface MessageAndAttempt {
  readonly message: Seen<MessageRow>;
  readonly attempt: Seen<AttemptRow>;
}

/**
 * Whether a carrier refused an attempt, or gave it up, because of the recipient or the message, for
 * good or for now.
 */
export function isMessageRefused({
  outcome,
  error,
  reported_error,
}: Pick<AttemptRow, "outcome" | "error" | "reported_error">): boolean {
  const reason = outcome === "undelivered" ? (reported_error ?? error) : error;
  const isRefused = outcome === "rejected" || outcome === "undelivered";
  return isRefused && reason !== null && !isTransportError(reason.code);
}

/** Higher than the number of attempts of any message: 6 over each of up to 5 transports. */
const maxRead = 100;

/** Returns the message's attempts, oldest first. */
export async function listAttempts(
  tx: Tx,
  { id, attempts: count }: MessageRow,
): Promise<readonly Seen<AttemptRow>[]> {
  return count === 0 ? [] : tx.list(attemptsOfMessage, [id], maxRead);
}

/** Whether a carrier may have the message: not every attempt was refused. */
export async function mayBeWithCarrier(tx: Tx, message: MessageRow): Promise<boolean> {
  const all = await listAttempts(tx, message);
  return all.some(({ outcome }) => outcome !== "rejected");
}
