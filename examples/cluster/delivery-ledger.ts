/** An acknowledged order that has not arrived for this long is late. */
const lateAfterMs = 30_000;

export interface Counts {
  /** Orders that the API acknowledged with 201. */
  readonly sent: number;
  /** Acknowledged orders whose message arrived. */
  readonly delivered: number;
  /**
   * Acknowledged orders that are overdue now. On a slow machine, a process can be killed before it
   * has continued the work of the one before, so an order may be late without being lost.
   */
  readonly late: number;
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

  counts(): Counts {
    const sent = this.#acknowledged.size;
    const lateSince = Date.now() - lateAfterMs;
    const late = [...this.#pending.values()].filter((at) => at <= lateSince).length;
    return { sent, delivered: sent - this.#pending.size, late, duplicated: this.#duplicated };
  }
}

/** The text of an order's message contains the order's number. */
export const textOf = (order: number): string => `Order ${order} is ready.`;
export const orderOf = (text: string): number => Number(/^Order (\d+) is ready\.$/.exec(text)?.[1]);
