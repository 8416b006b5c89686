/**
 * Which transport carries a message, and which one after it.
 *
 * A message goes over the transports of its way one after the other, and when all have had it begins again. Each of them has its own pauses,
 * or the one that its carrier asks for, as if it were alone; whoever may have the message first gets it. Never is it with two: the next one
 * has it when the one before surely did not send it, or when the host takes the risk.
 */
import type { CarrierErrorCode, Route } from "../ports/index.ts";
import { retryDelays } from "./rules.ts";
import type { Next, RouteFacts, Tried, Way } from "./route-types.ts";

/** The way of a message from a sender of transport `home`; `carries`: which transports have its mode and channel. */
export function wayOf(
  routes: readonly Route[],
  facts: RouteFacts,
  home: string,
  carries: (transport: string) => boolean,
): Way {
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

/** Where a message goes on after attempts over these, the last of them last. */
export function nextAfter(
  { transports }: Pick<Way, "transports">,
  tried: readonly Tried[],
  now: number,
): Next {
  const last = transports.indexOf(tried.at(-1)?.transport ?? "");
  // Of several whose time has come, the one after the last.
  const inTurn = [...transports.slice(last + 1), ...transports.slice(0, last + 1)];
  let next: Next = { next: "nowhere" };
  for (const transport of inTurn) {
    const due = dueOver(tried.filter((each) => each.transport === transport));
    if (due === null) continue;
    const at = Math.max(due, now);
    if (next.next === "nowhere" || at < next.at) next = { next: "on", transport, at };
  }
  return next;
}

/** When a message may be tried over a transport after these attempts over it; null: never again. */
function dueOver(tried: readonly Tried[]): number | null {
  const last = tried.at(-1);
  if (last === undefined) return 0;
  const pause = retryDelays[tried.length - 1];
  if (pause === undefined || tried.some(({ isOut }) => isOut)) return null;
  return last.not_before ?? last.at + pause;
}

/**
 * Reasons that are not the transport's: the recipient's or the message's own. Another one would meet them too, or should: what one carrier
 * filters is not to be slipped past it.
 */
const othersReasons: ReadonlySet<CarrierErrorCode> = new Set<CarrierErrorCode>([
  "invalid_destination",
  "landline",
  "unreachable",
  "opted_out",
  "filtered",
  "content_rejected",
]);

/** Whether another transport might do better after an error of this one. */
export function isOfTransport(code: string): boolean {
  return !othersReasons.has(code as CarrierErrorCode);
}
