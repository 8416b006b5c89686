/** While the load runs, an acknowledged order that has not arrived for this long counts as lost. */
const lostAfterMs = 30_000;

export interface Counts {
  /** Orders that the API acknowledged with 201. */
  readonly sent: number;
  /** Acknowledged orders whose message arrived. */
  readonly delivered: number;
  readonly lost: number;
  /** Orders whose message arrived more than once. */
  readonly duplicated: number;
}

/**
 * Compares what the API acknowledged with what arrived at the phones, order by order. It uses the
 * message texts only, no ids and no database. So it notices both kinds of duplicates: an
 * idempotency key that created two messages, and a message that was sent twice.
 */
export class DeliveryLedger {
  readonly #arrivals = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  /** Acknowledged orders that have not arrived, with the time of the acknowledgement. */
  readonly #pending = new Map<number, number>();
  #duplicated = 0;

  acknowledge(order: number): void {
    this.#acknowledged.add(order);
    if (!this.#arrivals.has(order)) this.#pending.set(order, Date.now());
  }

  arrive(order: number): void {
    const times = (this.#arrivals.get(order) ?? 0) + 1;
    this.#arrivals.set(order, times);
    this.#pending.delete(order);
    if (times === 2) this.#duplicated++;
  }

  /** `lostBefore`: pending orders that were acknowledged at this time or earlier count as lost. */
  counts(lostBefore: number = Date.now() - lostAfterMs): Counts {
    const sent = this.#acknowledged.size;
    const lost = [...this.#pending.values()].filter((at) => at <= lostBefore).length;
    return { sent, delivered: sent - this.#pending.size, lost, duplicated: this.#duplicated };
  }
}

/** The text of an order's message contains the order's number. */
export const textOf = (order: number): string => `Order ${order} is ready.`;
export const orderOf = (text: string): number => Number(/^Order (\d+) is ready\.$/.exec(text)?.[1]);
