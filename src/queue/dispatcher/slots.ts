import { boundedCache } from "../../kernel/index.ts";
import { isLower } from "../jobs/classes.ts";
import {
  classOf,
  groupOf,
  poolOf,
  readyLane,
  remoteOf,
  type Lane,
  type Pool,
} from "../jobs/lane.ts";

export interface SlotsOptions {
  /** How many jobs of the work pool may run at once. Webhooks and agents have their own pools. */
  readonly concurrency: number;
  /** How many jobs of one group of lanes may run at once. Slow lanes get a quarter. */
  readonly laneConcurrency: number;
  /** How many jobs of all consumers may run at once. Each may hold a transaction. */
  readonly consumerConcurrency: number;
}

/** How many webhooks may receive deliveries at once. Each uses a few sockets. */
const maxWebhooks = { quick: 512, slow: 384 } as const;

/** How many agents' turns may run at once, for one account and in total. */
const maxTurns = { lane: 64, all: 256 } as const;

/** The maximum number of groups whose picks are counted. The least recently used starts again. */
const maxGroups = 10_000;

/**
 * Counts running jobs and returns how many more may run. When a remote hangs, its jobs run until
 * their deadline. So one remote gets at most three quarters of the work pool, and all remotes
 * together leave an eighth to jobs that call none. For the same reason, the lower classes of a
 * group leave an eighth of its slots free for the next jobs of the best class. But until they have
 * an eighth themselves, they may take any free slot. The same holds for the turns of all accounts,
 * since a turn may take minutes.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #max: Readonly<Record<Pool, number>>;
  readonly #inPool: Record<Pool, number> = { work: 0, webhooks: 0, slow_webhooks: 0, turns: 0 };
  readonly #inGroup = new Map<string, number>();
  /** The running jobs of lower classes, by group. */
  readonly #lowerInGroup = new Map<string, number>();
  /** The running turns of lower classes, of all accounts. */
  #lowerTurns = 0;
  /** How many jobs of a group have been started. Only groups with classes are counted. */
  readonly #picks = boundedCache<string, number>(maxGroups);
  readonly #forRemote = new Map<string, number>();
  #callingRemotes = 0;
  #consuming = 0;
  /** The jobs that go on without a slot, by group. */
  readonly #withoutSlot = new Map<string, number>();

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#max = {
      work: options.concurrency,
      webhooks: maxWebhooks.quick,
      slow_webhooks: maxWebhooks.slow,
      turns: maxTurns.all,
    };
  }

  /** Returns how many more jobs of a pool may run. */
  freeInPool(pool: Pool): number {
    return this.#max[pool] - this.#inPool[pool];
  }

  /** Returns how many more jobs of a lane may run. */
  freeInLane(lane: Lane): number {
    const pool = poolOf(lane);
    const inPool = this.freeInPool(pool);
    if (pool !== "work" && pool !== "turns") return inPool;
    const ofClass = isLower(classOf(lane))
      ? this.#freeForLowerClasses(lane)
      : this.#maxInGroup(lane) - this.#runningInGroup(lane);
    return Math.min(inPool, ofClass, this.freeUnderLimit(lane));
  }

  /** Returns how many more jobs may run under the limit that a lane shares with others. */
  freeUnderLimit(lane: Lane): number {
    if (lane.kind === "consume") return this.#options.consumerConcurrency - this.#consuming;
    const remote = remoteOf(lane);
    return remote === undefined ? Infinity : this.#freeForRemote(remote);
  }

  /**
   * Counts a job of a lane as running. If `countsPick` is false, the next pick of its group is
   * still for another job, and the caller leaves that one a slot.
   */
  take(lane: Lane, { countsPick = true }: { readonly countsPick?: boolean } = {}): void {
    this.#count(lane, 1);
    if ("class" in lane && countsPick) this.#picks.set(groupOf(lane), this.nextPick(lane) + 1);
  }

  /** Counts a job of a lane as ended. Returns whether another job may have waited for its slot. */
  release(lane: Lane): boolean {
    // Jobs of the lower classes may wait even if the lane has room.
    const wasFull = this.freeInLane(lane) <= 0 || this.#freeForLowerClasses(lane) <= 0;
    this.#count(lane, -1);
    return wasFull;
  }

  /**
   * Counts a job that goes on without a slot. Returns false and counts nothing if its group has
   * reached the limit of such jobs, which equals its limit of slots. The job then keeps its slot.
   */
  startWithoutSlot(lane: Lane): boolean {
    const group = groupOf(lane);
    if ((this.#withoutSlot.get(group) ?? 0) >= this.#maxInGroup(lane)) return false;
    add(this.#withoutSlot, group, 1);
    return true;
  }

  endWithoutSlot(lane: Lane): void {
    add(this.#withoutSlot, groupOf(lane), -1);
  }

  /** Returns the number of the next pick in a lane's group. See `pickByClass`. */
  nextPick(lane: Lane): number {
    return this.#picks.get(groupOf(lane)) ?? 0;
  }

  /** Returns how many more jobs of the lower classes may run in the lane's group. */
  #freeForLowerClasses(lane: Lane): number {
    const lower = this.#lowerInGroup.get(groupOf(lane)) ?? 0;
    const free = freeForLower(this.#maxInGroup(lane), this.#runningInGroup(lane), lower);
    if (lane.kind !== "turn") return free;
    return Math.min(free, freeForLower(maxTurns.all, this.#inPool.turns, this.#lowerTurns));
  }

  #maxInGroup({ kind, slow }: Lane): number {
    if (kind === "turn") return maxTurns.lane;
    const { laneConcurrency } = this.#options;
    return slow ? Math.max(1, Math.floor(laneConcurrency / 4)) : laneConcurrency;
  }

  #freeForRemote(remote: string): number {
    const { concurrency } = this.#options;
    const maxOfOne = Math.max(1, Math.floor((concurrency * 3) / 4));
    const maxOfAll = Math.max(1, concurrency - Math.ceil(concurrency / 8));
    const calling = this.#forRemote.get(remote) ?? 0;
    return Math.min(maxOfOne - calling, maxOfAll - this.#callingRemotes);
  }

  /** Returns how many jobs run in the lane's group. */
  #runningInGroup(lane: Lane): number {
    return this.#inGroup.get(groupOf(lane)) ?? 0;
  }

  #count(lane: Lane, by: 1 | -1): void {
    const pool = poolOf(lane);
    this.#inPool[pool] += by;
    if (lane.kind === "deliver") return;
    const group = groupOf(lane);
    add(this.#inGroup, group, by);
    const isOfLower = isLower(classOf(lane));
    if (isOfLower) add(this.#lowerInGroup, group, by);
    if (lane.kind === "turn") {
      if (isOfLower) this.#lowerTurns += by;
      return;
    }
    if (lane.kind === "consume") this.#consuming += by;
    const remote = remoteOf(lane);
    if (remote === undefined) return;
    this.#callingRemotes += by;
    add(this.#forRemote, remote, by);
  }
}

/** The slot of a running job. */
export class Slot {
  readonly #slots: Slots;
  readonly #onFree: () => void;
  /** Undefined once the slot is free. */
  #lane: Lane | undefined;
  /** The lane whose slot the job has freed before its end. */
  #freedIn: Lane | undefined;

  /** `lane` has been taken. `onFree` is called when another job may take the slot. */
  constructor(slots: Slots, lane: Lane, onFree: () => void) {
    this.#slots = slots;
    this.#lane = lane;
    this.#onFree = onFree;
  }

  /** Takes a slot in the slow lane instead, whether or not one is free there. */
  moveToSlowLane(): void {
    const lane = this.#lane;
    if (lane === undefined || lane.slow) return;
    this.#free();
    this.#lane = readyLane(lane, { slow: true });
    this.#slots.take(this.#lane);
    this.#onFree();
  }

  /** Frees the slot before the end of the job, unless too many jobs go on without one. */
  freeEarly(): void {
    const lane = this.#lane;
    if (lane === undefined || !this.#slots.startWithoutSlot(lane)) return;
    this.#freedIn = lane;
    this.#free();
  }

  /** Ends the job, which frees the slot. */
  end(): void {
    this.#free();
    if (this.#freedIn !== undefined) this.#slots.endWithoutSlot(this.#freedIn);
    this.#freedIn = undefined;
  }

  #free(): void {
    const lane = this.#lane;
    if (lane === undefined) return;
    this.#lane = undefined;
    if (this.#slots.release(lane)) this.#onFree();
  }
}

/** Returns how many of `max` slots the lower classes may still take. `lower` of `running` do. */
function freeForLower(max: number, running: number, lower: number): number {
  const free = max - running;
  const eighth = Math.ceil(max / 8);
  return Math.min(free, Math.max(free - eighth, eighth - lower));
}

function add(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
