/** Jobs that fail have a lane beside that of their destination, with a small cap of its own, so that they hold up no others. */
export const slow = "~slow";

export function laneFor(lane: string, failures: number): string {
  const quick = lane.endsWith(slow) ? lane.slice(0, -slow.length) : lane;
  const usual = quick.replace(/^(\w+)@\S+/, "$1");
  return failures > 0 ? `${usual}${slow}` : usual;
}

/** The lane of those that wait for something before they may go on in theirs: `send@<what> <name> <account> <mode>`. */
export function waitingIn(lane: string, what: string): string {
  return lane.replace(/^\w+/, (kind) => `${kind}@${encodeURIComponent(what)}`);
}

/** The far side that the jobs of a lane call, mostly a transport: of `<kind> <name> <account> <mode>`. The engine's own work has none. */
export function transportOf(lane: string): string | undefined {
  return /^\S+ (.+) \S+ \S+$/.exec(lane)?.[1];
}
