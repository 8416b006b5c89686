import { boundedCache, getOrInsert } from "../../kernel/index.ts";
import { isLower } from "../jobs/classes.ts";
import {
  classOf,
  groupOf,
  limitOf,
  poolOf,
  readyLane,
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

/** How many agents' turns may run at once, of one account and mode (a group) and in total. */
const maxTurns = { group: 64, all: 256 } as const;

/** The maximum number of groups whose picks are counted. The least recently used starts again. */
const maxGroups = 10_000;

/** A limit on the jobs that run at once. */
interface Limit {
  readonly name: string;
  readonly max: number;
  /**
   * Whether the lower classes leave an eighth of the slots free for the next jobs of the best
   * class. But until they have an eighth themselves, they may take any free slot.
   */
  readonly keepsEighth?: boolean;
  /** Whether lanes of other groups are under it, too (`limitOf`). */
  readonly isShared?: boolean;
}

/** The running jobs under a limit, and those of lower classes among them. */
interface Running {
  all: number;
  lower: number;
}

/** Counts running jobs and returns how many more may run. */
export class Slots {
  readonly #options: SlotsOptions;
  /** The limits that lanes are under. A lane is asked for many times. */
  readonly #limits = new WeakMap<Lane, readonly Limit[]>();
  /** By the name of the limit. A limit without running jobs takes no memory. */
  readonly #running = new Map<string, Running>();
  /** How many jobs of a group have been started. Only groups with classes are counted. */
  readonly #picks = boundedCache<string, number>(maxGroups);
  readonly #pools: Readonly<Record<Pool, Limit>>;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#pools = {
      work: { name: "pool work", max: options.concurrency },
      webhooks: { name: "pool webhooks", max: maxWebhooks.quick },
      slow_webhooks: { name: "pool slow_webhooks", max: maxWebhooks.slow },
      // A turn may take minutes, so those of all accounts leave slots free for answers to contacts.
      turns: { name: "pool turns", max: maxTurns.all, keepsEighth: true },
    };
  }

  /** Returns how many more jobs of a pool may run. */
  freeInPool(pool: Pool): number {
    return this.#freeUnder(this.#pools[pool]);
  }

  /** Returns how many more jobs of a lane may run. */
  freeInLane(lane: Lane): number {
    return this.#freeIn(lane, isLower(classOf(lane)));
  }

  /** Returns how many more jobs may run under the limit that a lane shares with others. */
  freeUnderLimit(lane: Lane): number {
    const shared = this.#limitsOf(lane).filter(({ isShared }) => isShared);
    return Math.min(...shared.map((limit) => this.#freeUnder(limit)));
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
    const wasFull = this.#freeIn(lane, true) <= 0;
    this.#count(lane, -1);
    return wasFull;
  }

  /**
   * Counts a job that goes on without a slot. Returns false and counts nothing if its group has
   * reached the limit of such jobs, which equals its limit of slots. The job then keeps its slot.
   */
  startWithoutSlot(lane: Lane): boolean {
    const limit = this.#limitWithoutSlot(lane);
    const mayGoOn = this.#freeUnder(limit) > 0;
    if (mayGoOn) this.#add(limit, 1);
    return mayGoOn;
  }

  endWithoutSlot(lane: Lane): void {
    this.#add(this.#limitWithoutSlot(lane), -1);
  }

  /** Returns the number of the next pick in a lane's group. See `pickByClass`. */
  nextPick(lane: Lane): number {
    return this.#picks.get(groupOf(lane)) ?? 0;
  }

  /** Returns how many more jobs of a lane may run. `ofLower`: jobs of the lower classes. */
  #freeIn(lane: Lane, ofLower: boolean): number {
    let free = Infinity;
    for (const limit of this.#limitsOf(lane)) {
      free = Math.min(free, this.#freeUnder(limit, ofLower));
    }
    return free;
  }

  #freeUnder({ name, max, keepsEighth = false }: Limit, ofLower = false): number {
    const { all, lower } = this.#running.get(name) ?? none;
    const free = max - all;
    if (!ofLower || !keepsEighth) return free;
    const eighth = Math.ceil(max / 8);
    return Math.min(free, Math.max(free - eighth, eighth - lower));
  }

  #count(lane: Lane, by: 1 | -1): void {
    const byLower = isLower(classOf(lane)) ? by : 0;
    for (const limit of this.#limitsOf(lane)) this.#add(limit, by, byLower);
  }

  #add({ name }: Limit, by: 1 | -1, byLower = 0): void {
    const running = getOrInsert(this.#running, name, () => ({ all: 0, lower: 0 }));
    running.all += by;
    running.lower += byLower;
    if (running.all <= 0) this.#running.delete(name);
  }

  #limitsOf(lane: Lane): readonly Limit[] {
    return getOrInsert(this.#limits, lane, () => {
      const pool = this.#pools[poolOf(lane)];
      if (lane.kind === "deliver") return [pool];
      const group = { name: `group ${groupOf(lane)}`, max: this.#maxInGroup(lane) };
      return [pool, { ...group, keepsEighth: true }, ...this.#sharedLimits(lane)];
    });
  }

  #limitWithoutSlot(lane: Lane): Limit {
    return { name: `without slot ${groupOf(lane)}`, max: this.#maxInGroup(lane) };
  }

  /**
   * When a remote hangs, its jobs run until their deadline. So one remote gets at most three
   * quarters of the work pool, and all remotes together leave an eighth to jobs that call none.
   */
  #sharedLimits(lane: Lane): readonly Limit[] {
    const { concurrency, consumerConcurrency } = this.#options;
    const name = limitOf(lane);
    if (name === undefined) return [];
    if (lane.kind === "consume") return [{ name, max: consumerConcurrency, isShared: true }];
    const ofOne = Math.max(1, Math.floor((concurrency * 3) / 4));
    const ofAll = Math.max(1, concurrency - Math.ceil(concurrency / 8));
    return [
      { name, max: ofOne, isShared: true },
      { name: "all remotes", max: ofAll, isShared: true },
    ];
  }

  #maxInGroup({ kind, slow }: Lane): number {
    if (kind === "turn") return maxTurns.group;
    const { laneConcurrency } = this.#options;
    return slow ? Math.max(1, Math.floor(laneConcurrency / 4)) : laneConcurrency;
  }
}

const none: Readonly<Running> = { all: 0, lower: 0 };

/** The slot of a running job. */
export class Slot {
  readonly #slots: Slots;
  readonly #onFree: () => void;
  /** Undefined once the slot is free. */
  #lane: Lane | undefined;
  /** The lane whose slot the job has freed before its end. */
  #freedIn: Lane | undefined;

  /** The caller has taken the slot in `lane`. `onFree` is called when another job may take it. */
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

  /** Frees what the job still holds. Call this at the end of the job. */
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
