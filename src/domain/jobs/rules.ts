/** Jobs that fail have a lane beside that of their destination, with a small cap of its own, so that they hold up no others. */
export const slow = "~slow";

export function laneFor(lane: string, failures: number): string {
  const usual = lane.endsWith(slow) ? lane.slice(0, -slow.length) : lane;
  return failures > 0 ? `${usual}${slow}` : usual;
}

/** The far side that the jobs of a lane call, mostly a transport: of `<kind> <name> <account> <mode>`. The engine's own work has none. */
export function transportOf(lane: string): string | undefined {
  return /^\S+ (.+) \S+ \S+$/.exec(lane)?.[1];
}
