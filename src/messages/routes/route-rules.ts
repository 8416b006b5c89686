import type { Channel } from "../../kernel/index.ts";
import type { CarrierErrorCode, Route } from "../../ports/index.ts";

/*
 * Chooses the transport of a message, and the next one after a failed attempt.
 *
 * A message tries the transports of its route in order, then starts over. Each transport has its
 * own retry delays, or the delay that its carrier asked for. The transport that is due first gets
 * the message. Two transports never have it at once: the next one is tried only if the last attempt
 * certainly sent nothing, or if the route's `fallBackAfter` accepts the risk of a duplicate.
 */

/** The fields of a message that routes match. */
export interface RouteFacts {
  readonly channel: Channel;
  readonly from: string;
  readonly to: string;
}

/**
 * The transports of a message in order. `fallBackAfter` adds outcomes after which to try the next
 * one.
 */
export interface ChosenRoute {
  readonly transports: readonly [string, ...string[]];
  readonly fallBackAfter: readonly ("ambiguous" | "undelivered")[];
}

/** An earlier attempt that failed or was given up. */
export interface FailedAttempt {
  readonly transport: string;
  /** Whether the transport is not tried again with this message. */
  readonly isExcluded: boolean;
  /** When the outcome was known, in milliseconds. */
  readonly at: number;
  /** Before this time, the carrier asked not to be called. */
  readonly not_before: number | null;
}

/** The next attempt over a transport, possibly the same one. */
export interface PlannedAttempt {
  readonly transport: string;
  /** The earliest time of the attempt, in milliseconds. */
  readonly at: number;
}
export type NextAttempt = PlannedAttempt | "none";

/** The delay after each failed attempt, in milliseconds. The sixth attempt is the last. */
export const retryDelays = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
export const maxAttempts = retryDelays.length + 1;

/**
 * Returns the first matching route, or `home`, the transport of the sender. `carries` says whether
 * a transport supports the message's mode and channel.
 */
export function matchRoute(
  routes: readonly Route[],
  facts: RouteFacts,
  home: string,
  carries: (transport: string) => boolean,
): ChosenRoute {
  for (const route of routes) {
    if (!fits(route, facts)) continue;
    const [first, ...others] = route.transports.filter(carries);
    if (first !== undefined) {
      return { transports: [first, ...others], fallBackAfter: route.fallBackAfter ?? [] };
    }
  }
  return { transports: [home], fallBackAfter: [] };
}

function fits({ from, channels, to }: Route, facts: RouteFacts): boolean {
  return (
    (from === undefined || from.includes(facts.from)) &&
    (channels === undefined || channels.includes(facts.channel)) &&
    (to === undefined || to.some((beginning) => facts.to.startsWith(beginning)))
  );
}

/** Returns the next attempt over one of a route's transports after the given ones, in order. */
export function nextAfter(
  transports: readonly string[],
  tried: readonly FailedAttempt[],
  now: number,
): NextAttempt {
  const last = transports.indexOf(tried.at(-1)?.transport ?? "");
  // If several transports are due, the one after the last attempt wins.
  const inTurn = [...transports.slice(last + 1), ...transports.slice(0, last + 1)];
  let next: NextAttempt = "none";
  for (const transport of inTurn) {
    const due = nextTryAt(tried.filter((each) => each.transport === transport));
    if (due === null) continue;
    const at = Math.max(due, now);
    if (next === "none" || at < next.at) next = { transport, at };
  }
  return next;
}

/** Returns when a transport may be tried after these attempts over it. Null if never again. */
function nextTryAt(tried: readonly FailedAttempt[]): number | null {
  const last = tried.at(-1);
  if (last === undefined) return 0;
  const end = pauseEnd(tried.length, last.at);
  if (end === null || tried.some(({ isExcluded }) => isExcluded)) return null;
  return last.not_before ?? end;
}

/**
 * Returns when the pause ends after `tries` failed attempts over a transport, the last one at `at`.
 * Null if that was the last attempt over it.
 */
export function pauseEnd(tries: number, at: number): number | null {
  const pause = retryDelays[tries - 1];
  return pause === undefined ? null : at + pause;
}

/**
 * Errors caused by the recipient or the message. Another transport would fail in the same way. A
 * message that one carrier filters must not be sent around the filter.
 */
const messageErrors: ReadonlySet<CarrierErrorCode> = new Set<CarrierErrorCode>([
  "invalid_destination",
  "landline",
  "unreachable",
  "opted_out",
  "filtered",
  "content_rejected",
]);

/** Returns whether another transport might succeed after this error. */
export function isTransportError(code: string): boolean {
  return !messageErrors.has(code as CarrierErrorCode);
}
