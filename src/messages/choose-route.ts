import { type AttemptRow, attemptsOfMessage, type MessageRow } from "./rows.ts";
import { isOfTransport, nextAfter, wayOf } from "./route-rules.ts";
import type { Next, RouteFacts, Tried, Way } from "./route-types.ts";
import type { Services } from "../operations/index.ts";
import type { Mode } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** More attempts than any message gets. */
const mostTried = 100;

type Routing = Pick<Services, "routes" | "transports">;

/** The way of a message from a sender of transport `home`. */
export function findWay(
  { routes, transports }: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): Way {
  return wayOf(routes, message, home, (transport) =>
    transports.some(({ name, capabilities: { modes, channels } }) => {
      return (
        name === transport && modes.includes(message.mode) && channels.includes(message.channel)
      );
    }),
  );
}

/** Who carries it first. */
export function firstTransport(
  services: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): string {
  return services.routes.length === 0 ? home : findWay(services, message, home).transports[0];
}

/** How an attempt came out that did not get its message to its end. */
export type Setback = Pick<AttemptRow, "outcome" | "error" | "not_before">;

/**
 * Where a message goes on after a setback of its last attempt. Undefined where it stays with the transport that it has: it has no other, or
 * nobody knows whether it went out and the host doesn't want it twice. `at`: when the setback came.
 */
export async function findNext(
  tx: Tx,
  { routes, transports }: Routing,
  message: MessageRow,
  attempt: AttemptRow,
  setback: Setback,
  at = tx.now,
): Promise<Next | undefined> {
  if (routes.length === 0) return undefined;
  const way = findWay({ routes, transports }, message, attempt.transport);
  const [first, ...others] = way.transports;
  if (others.length === 0 && first === attempt.transport) return undefined;
  const { outcome, error, not_before } = setback;
  if (outcome === "ambiguous" && !way.fallBackAfter.includes("ambiguous")) return undefined;
  if (outcome === "accepted" && !way.fallBackAfter.includes("undelivered")) return undefined;
  const isForGood = outcome === "accepted" || error?.permanent === true;
  if (isForGood && error !== null && !isOfTransport(error.code)) return { next: "nowhere" };
  const before = await tx.list(attemptsOfMessage, [message.id], mostTried);
  const earlier = before.filter(({ number }) => number < attempt.number);
  const last = triedOf({ ...attempt, answered_at: at, outcome, error, not_before });
  const next = nextAfter(way, [...earlier.map(triedOf), last], tx.now);
  // What may have gone out doesn't expire for want of another try.
  const isLate = next.next === "on" && next.at >= (message.expires_at ?? Infinity);
  return isLate && outcome !== "rejected" ? undefined : next;
}

/** Who refused for good, or may have it, is not tried again. */
function triedOf({
  transport,
  outcome,
  error,
  started_at,
  answered_at,
  not_before,
}: AttemptRow): Tried {
  const isOut = outcome !== "rejected" || error?.permanent === true;
  return { transport, isOut, at: answered_at ?? started_at, not_before };
}

/** The columns of a message that goes on: what the carrier before called it is that one's. */
export function handedOn(message: MessageRow, next: Next | undefined): Partial<MessageRow> {
  if (next === undefined || next.next === "nowhere" || next.transport === message.transport) {
    return {};
  }
  return { transport: next.transport, provider_message_id: null };
}
