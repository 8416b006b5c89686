/** Jobs that fail have a lane beside that of their destination, with a small cap of its own, so that they hold up no others. */
export const slow = "~slow";

export function laneFor(lane: string, failures: number): string {
  const quick = lane.endsWith(slow) ? lane.slice(0, -slow.length) : lane;
  const usual = quick.replace(/^(\w+)@\S+/, "$1");
  return failures > 0 ? `${usual}${slow}` : usual;
}

/**
 * Lanes that share their room with one another and with no others. Most of the time of what calls webhooks or models is waiting, and what has
 * not shown that it answers, or is long about it, has a road of its own: the others come through however many of these hang.
 */
export const roads = ["work", "webhooks", "slow_webhooks", "turns"] as const;
export type Road = (typeof roads)[number];

export function roadOf(lane: string): Road {
  if (lane.startsWith("webhook ")) return lane.endsWith(slow) ? "slow_webhooks" : "webhooks";
  return lane.startsWith("turn ") ? "turns" : "work";
}

/** The lane of those that wait for something before they may go on in theirs: `send@<what> <name> <account> <mode>`. */
export function waitingIn(lane: string, what: string): string {
  return lane.replace(/^\w+/, (kind) => `${kind}@${encodeURIComponent(what)}`);
}

/** The far side that the jobs of a lane call, mostly a transport: of `<kind> <name> <account> <mode>`. The engine's own work has none. */
export function transportOf(lane: string): string | undefined {
  return /^\S+ (.+) \S+ \S+$/.exec(lane)?.[1];
}
