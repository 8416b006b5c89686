import { consumerOf } from "../domain/consumers/rules.ts";
import { slow, transportOf } from "../domain/jobs/rules.ts";
import { isTurnLane } from "../domain/runs/rules.ts";
import { isWebhookLane } from "../domain/webhooks/rules.ts";

export interface SlotsOptions {
  /** Jobs at once, beside those of webhooks and agents. */
  readonly concurrency: number;
  /** Jobs at once in one lane; a quarter in the slow lane beside it. */
  readonly laneConcurrency: number;
  /** Jobs of consumers at once, whichever they are of: each may hold a transaction. */
  readonly consumerConcurrency: number;
}

/**
 * Webhooks that are sent to at once. Most of that time is waiting, which takes no slot of others; a socket or a few each are what it
 * costs. Those that have not shown that they answer, and those that are long about it, have places of their own: the others come through
 * however many of these hang.
 */
const webhooksAtOnce = { quick: 512, slow: 384, all: 1_024 } as const;

/** Agents' turns at once, of one account and of all: models take their time, and it takes no slot of others. */
const turnsAtOnce = { lane: 64, all: 256 } as const;

/**
 * Who may run beside whom. A carrier that hangs keeps its jobs for as long as a call may take, so one transport gets three quarters of
 * the slots at most, and all of them together leave some to the engine's own work. With one slot there is nothing to share.
 */
export class Slots {
  readonly #options: SlotsOptions;
  readonly #perLane = new Map<string, number>();
  readonly #perTransport = new Map<string, number>();
  #carrying = 0;
  #consuming = 0;
  #taken = 0;
  #quickWebhooks = 0;
  #slowWebhooks = 0;
  #turns = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  get free(): number {
    return this.#freeForJobs + this.#freeForWebhooks + turnsAtOnce.all - this.#turns;
  }

  freeIn(lane: string): number {
    if (isWebhookLane(lane)) {
      const { quick, slow: most } = webhooksAtOnce;
      const free = lane.endsWith(slow) ? most - this.#slowWebhooks : quick - this.#quickWebhooks;
      return Math.min(this.#freeForWebhooks, free);
    }
    if (isTurnLane(lane)) {
      return Math.min(turnsAtOnce.all - this.#turns, turnsAtOnce.lane - (this.#perLane.get(lane) ?? 0));
    }
    const { concurrency, laneConcurrency, consumerConcurrency } = this.#options;
    const inLane = lane.endsWith(slow) ? Math.max(1, Math.floor(laneConcurrency / 4)) : laneConcurrency;
    const free = Math.min(this.#freeForJobs, inLane - (this.#perLane.get(lane) ?? 0));
    if (consumerOf(lane) !== undefined) return Math.min(free, consumerConcurrency - this.#consuming);
    const transport = transportOf(lane);
    if (transport === undefined) return free;
    const ofTransport = Math.max(1, Math.floor((concurrency * 3) / 4));
    const ofAll = Math.max(1, concurrency - Math.ceil(concurrency / 8));
    return Math.min(free, ofTransport - (this.#perTransport.get(transport) ?? 0), ofAll - this.#carrying);
  }

  take(lane: string): void {
    this.#count(lane, 1);
  }

  leave(lane: string): void {
    this.#count(lane, -1);
  }

  get #freeForJobs(): number {
    return this.#options.concurrency - this.#taken;
  }

  get #freeForWebhooks(): number {
    return webhooksAtOnce.all - this.#quickWebhooks - this.#slowWebhooks;
  }

  #count(lane: string, by: 1 | -1): void {
    if (isWebhookLane(lane)) {
      if (lane.endsWith(slow)) this.#slowWebhooks += by;
      else this.#quickWebhooks += by;
      return;
    }
    add(this.#perLane, lane, by);
    if (isTurnLane(lane)) {
      this.#turns += by;
      return;
    }
    this.#taken += by;
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
