import type { Tx } from "../../store/index.ts";
import { chooseRoute, type Routing } from "../routes/choose-route.ts";
import { nextAfter, type FailedAttempt, type NextAttempt } from "../routes/route-rules.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { isMessageRefused, listAttempts } from "./message-attempts.ts";

/**
 * Decides where to send a message after its last attempt has failed. Undefined if it stays with its
 * transport:
 * - The engine has no routes, or the message's route has no other transport.
 * - The route does not fall back after this outcome.
 * - The message may have been sent, and the next attempt would be after its expiry.
 *
 * `failed` has its new outcome, which need not be stored yet. Without a time of its answer, it
 * failed now. `changed` is an earlier attempt whose new outcome is not stored yet.
 */
export async function findNextAttempt(
  tx: Tx,
  routing: Routing,
  message: MessageRow,
  failed: AttemptRow,
  changed?: AttemptRow,
): Promise<NextAttempt | undefined> {
  if (routing.routes.length === 0) return undefined;
  const { transport, outcome, answered_at } = failed;
  const route = chooseRoute(routing, message, transport);
  const [first, ...others] = route.transports;
  if (others.length === 0 && first === transport) return undefined;
  const isRisky = outcome === "ambiguous" || outcome === "undelivered";
  // An earlier failure of the attempt, such as a lost answer, may already have led to another one.
  const isPlanned = failed.next_attempt_at !== null;
  if (isRisky && !isPlanned && !route.fallBackAfter.includes(outcome)) return undefined;
  const earlier = (await listAttempts(tx, message))
    .filter(({ number }) => number < failed.number)
    .map((each) => (each.number === changed?.number ? changed : each));
  const tried = [...earlier, { ...failed, answered_at: answered_at ?? tx.now }];
  // No other transport gets a message that a carrier has refused itself.
  const refusedBy = tried.findLast(isMessageRefused)?.transport;
  const allowed = refusedBy === undefined ? route.transports : [refusedBy];
  const next = nextAfter(allowed, tried.map(failureOf), tx.now);
  // A message that may have been sent must not expire because another attempt would be too late.
  const isLate = next !== "none" && next.at >= (message.expires_at ?? Infinity);
  return isLate && outcome !== "rejected" ? undefined : next;
}

/**
 * Returns an attempt for the choice of the next one. A transport that refused permanently, or may
 * have the message, is not tried again.
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

/**
 * Returns the columns that change with the transport. A provider id belongs to one carrier only.
 */
export function transportPatch(
  message: MessageRow,
  next: NextAttempt | undefined,
): Partial<MessageRow> {
  if (next === undefined || next === "none" || next.transport === message.transport) {
    return {};
  }
  return { transport: next.transport, provider_message_id: null };
}
