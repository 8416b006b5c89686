/**
 * Which transport carries a message, and which one after it.
 *
 * A message goes over the transports of its way one after the other, and when all have had it begins again. Never is it with two: the next one
 * has it when the one before surely did not send it, or when the host takes the risk.
 */
import type { Route } from "../../ports/route.ts";
import type { CarrierErrorCode } from "../../ports/transport.ts";
import type { Next, RouteFacts, Tried, Way } from "./types.ts";

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
    if (first !== undefined) return { transports: [first, ...others], fallBackAfter: route.fallBackAfter ?? [] };
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
export function nextAfter({ transports }: Pick<Way, "transports">, tried: readonly Tried[]): Next {
  const isLeft = (transport: string): boolean => !tried.some((each) => each.transport === transport && each.isOut);
  const last = tried.at(-1)?.transport ?? "";
  const over = transports.slice(transports.indexOf(last) + 1).find(isLeft);
  if (over !== undefined) return { next: "over", transport: over };
  const first = transports.find(isLeft);
  if (first === undefined) return { next: "nowhere" };
  const rounds = tried.filter(({ transport }) => transport === first).length;
  return { next: "again", transport: first, rounds, isSame: first === last };
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
