/** Which transport carries which messages. */
import { type Channel, channels } from "../kernel/index.ts";

/**
 * Of a list of routes the first decides that a message fits and that has a transport for its mode and channel. A message that none of
 * them is for goes over its sender's own transport.
 */
export interface Route {
  /** Addresses of senders, up to 1,000; by default all. */
  readonly from?: readonly string[];
  /** By default all. */
  readonly channels?: readonly Channel[];
  /** What the recipient's number begins with: `"+44"`, `"+1415"`. Up to 1,000; by default anything. */
  readonly to?: readonly string[];
  /**
   * Names, in order, up to 5. The first carries. The next one is tried at once when an attempt surely sent nothing, unless the reason is the
   * recipient's or the message's own; after the last it begins again, as often and as far apart as attempts over one transport.
   */
  readonly transports: readonly string[];
  /**
   * After what else the next one is tried; by default nothing. `ambiguous`: the answer was lost, so the message may go out twice.
   * `undelivered`: a receipt says that the carrier gave up for a reason of its own, which another receipt may yet contradict.
   */
  readonly fallBackAfter?: readonly ("ambiguous" | "undelivered")[];
}

const fields = new Set(["from", "channels", "to", "transports", "fallBackAfter"]);

/** Whether it is one, for transports of these names. */
export function isRoute(value: unknown, names: readonly string[]): value is Route {
  if (typeof value !== "object" || value === null) return false;
  const {
    from = ["x"],
    channels: ways = channels,
    to = ["+"],
    transports,
    fallBackAfter = [],
  } = value as Partial<Route>;
  return (
    Object.keys(value).every((field) => fields.has(field)) &&
    isList(from, 1_000, (each) => each !== "") &&
    isList(ways, channels.length, (each) => channels.some((channel) => channel === each)) &&
    isList(to, 1_000, (each) => /^\+\d{0,15}$/.test(each)) &&
    isList(transports, 5, (each) => names.includes(each)) &&
    (fallBackAfter.length === 0 ||
      isList(fallBackAfter, 2, (each) => each === "ambiguous" || each === "undelivered"))
  );
}

/** One item at the least, and none twice. */
function isList(value: unknown, most: number, holds: (each: string) => boolean): boolean {
  const isSome =
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= most &&
    new Set(value).size === value.length;
  return isSome && value.every((each) => typeof each === "string" && holds(each));
}
