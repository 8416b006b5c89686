import { LRUCache } from "lru-cache";
import type { AccountId, Mode, WebhookId } from "../kernel/index.ts";
import { decodeNames, encodeNames, type JobKind } from "./job-key.ts";

/** Jobs that call a remote for an account: a transport, or the sentiment analyzer. */
interface RemoteLane {
  /** The name of the transport, or of the analyzer. */
  readonly remote: string;
  readonly account_id: AccountId;
  readonly mode: Mode;
}

interface SendLane extends RemoteLane {
  /** The sender's address whose throttle the jobs wait for; null when they wait for none. */
  readonly waiting_for: string | null;
}

/** The fields that distinguish the lanes of each kind. Kinds that are not listed have one lane. */
interface LaneNames {
  readonly send: SendLane;
  readonly "follow-up": RemoteLane;
  readonly score: RemoteLane;
  readonly consume: { readonly consumer: string };
  readonly deliver: { readonly webhook_id: WebhookId };
  readonly turn: Pick<RemoteLane, "account_id" | "mode">;
}

/**
 * A queue of jobs of one kind. The dispatcher takes jobs from the lanes round-robin and limits how
 * many jobs of one lane run at once, so the backlog of one remote does not delay the others.
 */
export type Lane<K extends JobKind = JobKind> = {
  [P in K]: {
    readonly kind: P;
    /**
     * Failing jobs wait in a slow lane with its own limit, so that they do not delay other jobs.
     */
    readonly slow: boolean;
  } & (P extends keyof LaneNames ? LaneNames[P] : unknown);
}[K];

const names: { readonly [K in keyof LaneNames]: readonly (keyof LaneNames[K])[] } = {
  send: ["remote", "account_id", "mode", "waiting_for"],
  "follow-up": ["remote", "account_id", "mode"],
  score: ["remote", "account_id", "mode"],
  consume: ["consumer"],
  deliver: ["webhook_id"],
  turn: ["account_id", "mode"],
};

const namesOf = (kind: string): readonly string[] =>
  kind in names ? names[kind as keyof LaneNames] : [];

/**
 * The decoded lanes, and their texts. The dispatcher decodes and encodes the lane of a job many
 * times, and few lanes are in use at once.
 */
const textOf = new WeakMap<Lane, string>();
const laneOf = new LRUCache<string, Lane>({ max: 10_000 });

/** Returns the text under which a lane is stored. Equal lanes have equal texts. */
export function encodeLane(lane: Lane): string {
  const known = textOf.get(lane);
  if (known !== undefined) return known;
  const values: Readonly<Record<string, unknown>> = { ...lane };
  const parts = namesOf(lane.kind).map((name) => values[name]);
  const present = parts.filter((value) => typeof value === "string");
  return encodeNames([lane.kind, lane.slow ? "slow" : "quick", ...present]);
}

/** Returns the lane that `encodeLane` stored. */
export function decodeLane(text: string): Lane {
  let lane = laneOf.get(text);
  if (lane === undefined) {
    const [kind = "", speed, ...values] = decodeNames(text);
    const fields = namesOf(kind).map((name, i) => [name, values[i] ?? null]);
    // `encodeLane` wrote it, so the kind and its names are there.
    lane = { kind, slow: speed === "slow", ...Object.fromEntries(fields) } as Lane;
    laneOf.set(text, Object.freeze(lane));
    textOf.set(lane, text);
  }
  return lane;
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
 * Groups of lanes with separate concurrency limits. Calls to webhooks and models mostly wait. A
 * webhook is in the slow pool unless its last automatic attempt succeeded. Any number of slow
 * webhooks may hang without delaying the jobs of another pool.
 */
export const pools = ["work", "webhooks", "slow_webhooks", "turns"] as const;
export type Pool = (typeof pools)[number];

export function poolOf({ kind, slow }: Pick<Lane, "kind" | "slow">): Pool {
  if (kind === "deliver") return slow ? "slow_webhooks" : "webhooks";
  return kind === "turn" ? "turns" : "work";
}
