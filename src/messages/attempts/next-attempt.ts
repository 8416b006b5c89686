import { chooseRoute, type Routing } from "../routes/choose-route.ts";
import { nextAfter, type FailedAttempt, type NextAttempt } from "../routes/route-rules.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { isMessageRefused } from "./attempts.ts";

/**
 * Returns the next attempt of a message that no carrier is known to have. `last` is the last of the
 * attempts `made`. If its answer is lost or its carrier gave it up, the route has to allow another
 * attempt (`fallBackAfter`).
 */
export function nextAttempt(
  routing: Routing,
  message: MessageRow,
  made: readonly AttemptRow[],
  last: AttemptRow,
  now: number,
): NextAttempt {
  const route = chooseRoute(routing, message, last.transport);
  if (last.outcome === "ambiguous" || last.outcome === "undelivered") {
    // The next attempt may be planned since an earlier failure of this one, such as a lost answer.
    const isPlanned = last.next_attempt_at !== null;
    if (!isPlanned && !route.fallBackAfter.includes(last.outcome)) return "none";
    // A redacted message has no text to send again.
    if (message.body === null) return "none";
  }
  // No other transport gets a message that a carrier has refused itself.
  const refusedBy = made.findLast(isMessageRefused)?.transport;
  const allowed = refusedBy === undefined ? route.transports : [refusedBy];
  return nextAfter(allowed, made.map(failureOf), now);
}

/**
 * Returns what the choice of the next attempt depends on. A transport that refused permanently, or
 * that has or had the message, or may have it, is not tried again.
 */
function failureOf({
  transport,
  outcome,
  error,
  started_at,
  answered_at,
  not_before,
}: AttemptRow): FailedAttempt {
  const isExcluded = outcome !== "rejected" || error?.permanent === true;
  return { transport, isExcluded, at: answered_at ?? started_at, not_before };
}
