/** The lanes in which jobs wait, and the pools of lanes. */
import { boundedCache } from "../../kernel/index.ts";
import { bestClass, jobClasses, type JobClass } from "./classes.ts";
import { decodeNames, encodeNames, jobKinds, type JobKind, type LaneFields } from "./job-kinds.ts";

/**
 * A queue of jobs of one kind. Lanes that differ only in their class form a group; any other lane
 * is a group by itself. The dispatcher takes jobs from the groups round-robin and limits how many
 * jobs of one group run at once, so the backlog of one remote does not delay the others. Within a
 * group, jobs are picked by class (`classes.ts`).
 */
export type Lane<K extends JobKind = JobKind> = {
  [P in K]: {
    readonly kind: P;
    /**
     * Failing jobs wait in a slow lane with its own limit, so that they do not delay other jobs.
     */
    readonly slow: boolean;
  } & LaneFields[P];
}[K];

/** Returns the fields of a kind's lanes, except the remote. */
function laneFieldsOf(kind: string): readonly string[] {
  // A newer version of the engine on this storage may have other kinds of jobs.
  const fields = kind in jobKinds ? jobKinds[kind as JobKind].lane : [];
  return fields.filter((name) => name !== "remote");
}

/**
 * The decoded lanes, and their texts. The dispatcher decodes and encodes the lane of a job many
 * times, and few lanes are in use at once.
 */
const textOf = new WeakMap<Lane, string>();
const laneOf = boundedCache<string, Lane>(10_000);

/**
 * Returns the text under which a lane is stored. Equal lanes have equal texts. The text begins with
 * the name of the limit that the lane shares with others (`limitOf`), so these lanes follow one
 * another in the index.
 */
export function encodeLane(lane: Lane): string {
  const known = textOf.get(lane);
  if (known !== undefined) return known;
  const values: Readonly<Record<string, unknown>> = { ...lane };
  const fields = laneFieldsOf(lane.kind).map((name) => values[name] ?? "");
  const names = [lane.kind, lane.slow ? "slow" : "quick", ...fields.map(String)];
  const remote = remoteOf(lane);
  return encodeNames(remote === undefined ? names : ["remote", remote, ...names]);
}

/** Returns the lane that `encodeLane` stored. */
export function decodeLane(text: string): Lane {
  let lane = laneOf.get(text);
  if (lane === undefined) {
    const names = decodeNames(text);
    const remote = names[0] === "remote" ? { remote: names[1] } : {};
    const [kind = "", speed, ...values] = "remote" in remote ? names.slice(2) : names;
    // Of the names, only `waiting_for` can be absent, and no address is empty.
    const fields = laneFieldsOf(kind).map((name, i) => [
      name,
      name === "waiting_for" && values[i] === "" ? null : values[i],
    ]);
    // `encodeLane` wrote it, so the kind and the fields of the lane are there.
    lane = { kind, slow: speed === "slow", ...remote, ...Object.fromEntries(fields) } as Lane;
    laneOf.set(text, Object.freeze(lane));
    textOf.set(lane, text);
  }
  return lane;
}

/** Returns the name of a lane's group: the lanes that differ from it only in their class. */
export function groupOf(lane: Lane): string {
  const text = encodeLane(lane);
  return "class" in lane ? text.slice(0, text.lastIndexOf("/")) : text;
}

/**
 * Returns the class of a lane's jobs. Jobs without classes are all of the best one. So are jobs
 * that another version of the engine has stored with a class that this one does not have, or with
 * none: a job of no class would never be picked.
 */
export function classOf(lane: Lane): JobClass {
  const stored = "class" in lane ? lane.class : undefined;
  return jobClasses.find((each) => each === stored) ?? bestClass;
}

/**
 * Returns the lane of a job that does not wait for a throttle: the usual lane, or the slow lane
 * beside it.
 */
export function readyLane<L extends Lane>(lane: L, { slow }: { readonly slow: boolean }): L {
  return "waiting_for" in lane ? { ...lane, slow, waiting_for: null } : { ...lane, slow };
}

/** Returns the remote that the jobs of a lane call, or undefined if they call none. */
export function remoteOf(lane: Lane): string | undefined {
  return "remote" in lane ? lane.remote : undefined;
}

/**
 * Returns the name of the limit that a lane shares with others: that of its remote, or that of all
 * consumers. The encoded names of these lanes begin with it. Undefined if the lane shares none.
 */
export function limitOf(lane: Lane): string | undefined {
  const remote = remoteOf(lane);
  if (remote !== undefined) return `${encodeNames(["remote", remote])}/`;
  return lane.kind === "consume" ? "consume/" : undefined;
}

/** Returns the sender whose throttle the jobs of a lane wait for. Null if they wait for none. */
export function waitingForOf(lane: Lane): string | null {
  return "waiting_for" in lane ? lane.waiting_for : null;
}

/**
 * Each pool has a limit of its own on the jobs that run at once, so that none takes the slots of
 * another. Calls of webhooks and models spend their time waiting, so many of them may run. A
 * webhook is in the slow pool unless its last automatic attempt succeeded: any number of slow
 * webhooks may hang without delaying the others.
 */
export const pools = ["work", "webhooks", "slow_webhooks", "turns"] as const;
export type Pool = (typeof pools)[number];

export function poolOf({ kind, slow }: Pick<Lane, "kind" | "slow">): Pool {
  if (kind === "deliver") return slow ? "slow_webhooks" : "webhooks";
  return kind === "turn" ? "turns" : "work";
}
