import { consumerOf } from "../events/consumer-rules.ts";
import { type Road, roadOf, slow, transportOf } from "./rules.ts";

export interface SlotsOptions {
  /** Jobs at once, beside those of webhooks and agents. */
  readonly concurrency: number;
  /** Jobs at once in one lane; a quarter in the slow lane beside it. */
  readonly laneConcurrency: number;
  /** Jobs of consumers at once, whichever they are of: each may hold a transaction. */
  readonly consumerConcurrency: number;
}

/** Webhooks that are sent to at once: a socket or a few each are what it costs. */
const webhooksAtOnce = { quick: 512, slow: 384 } as const;

/** Agents' turns at once, of one account and of all: models take their time, and it takes no slot of others. */
const turnsAtOnce = { lane: 64, all: 256 } as const;

/**
 * Who may run beside whom. A carrier that hangs keeps its jobs for as long as a call may take, so one transport gets three quarters of
 * the slots at most, and all of them together leave some to the engine's own work. With one slot there is nothing to share.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #most: Readonly<Record<Road, number>>;
  readonly #onRoad: Record<Road, number> = { work: 0, webhooks: 0, slow_webhooks: 0, turns: 0 };
  readonly #perLane = new Map<string, number>();
  readonly #perTransport = new Map<string, number>();
  #carrying = 0;
  #consuming = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
    const { quick, slow: hanging } = webhooksAtOnce;
    this.#most = {
      work: options.concurrency,
      webhooks: quick,
      slow_webhooks: hanging,
      turns: turnsAtOnce.all,
    };
  }

  /** How many more jobs a road has room for. */
  freeOn(road: Road): number {
    return this.#most[road] - this.#onRoad[road];
  }

  freeIn(lane: string): number {
    const road = roadOf(lane);
    const onRoad = this.freeOn(road);
    if (road === "turns") return Math.min(onRoad, turnsAtOnce.lane - this.#in(lane));
    if (road !== "work") return onRoad;
    const { concurrency, laneConcurrency, consumerConcurrency } = this.#options;
    const inLane = lane.endsWith(slow)
      ? Math.max(1, Math.floor(laneConcurrency / 4))
      : laneConcurrency;
    const free = Math.min(onRoad, inLane - this.#in(lane));
    if (consumerOf(lane) !== undefined) {
      return Math.min(free, consumerConcurrency - this.#consuming);
    }
    const transport = transportOf(lane);
    if (transport === undefined) return free;
    const ofTransport = Math.max(1, Math.floor((concurrency * 3) / 4));
    const ofAll = Math.max(1, concurrency - Math.ceil(concurrency / 8));
    return Math.min(
      free,
      ofTransport - (this.#perTransport.get(transport) ?? 0),
      ofAll - this.#carrying,
    );
  }

  take(lane: string): void {
    this.#count(lane, 1);
  }

  leave(lane: string): void {
    this.#count(lane, -1);
  }

  #in(lane: string): number {
    return this.#perLane.get(lane) ?? 0;
  }

  #count(lane: string, by: 1 | -1): void {
    const road = roadOf(lane);
    this.#onRoad[road] += by;
    if (road === "webhooks" || road === "slow_webhooks") return;
    add(this.#perLane, lane, by);
    if (road === "turns") return;
    if (consumerOf(lane) !== undefined) this.#consuming += by;
    const transport = transportOf(lane);
    if (transport === undefined) return;
    this.#carrying += by;
    add(this.#perTransport, transport, by);
  }
}

function add(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
