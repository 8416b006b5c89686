/** How long ago, in milliseconds, what has not arrived must have been acknowledged to be called lost while the load runs. */
const patienceMs = 30_000;

export interface Counts {
  /** Acknowledged: 201 is a promise. */
  readonly sent: number;
  /** Of those, what arrived. */
  readonly delivered: number;
  readonly lost: number;
  /** Orders of which a phone was told more than once. */
  readonly doubled: number;
}

/**
 * What clients and phones saw, order by order, told by the texts themselves: no id of an engine and nothing in the database counts
 * here. A key that made two messages and a message that was handed over twice both show as a text that came twice.
 */
export class Books {
  readonly #arrivals = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  /** Since when what is acknowledged and has not arrived is waited for. */
  readonly #awaited = new Map<number, number>();
  #doubled = 0;

  acknowledge(order: number): void {
    this.#acknowledged.add(order);
    if (!this.#arrivals.has(order)) this.#awaited.set(order, Date.now());
  }

  arrive(order: number): void {
    const times = (this.#arrivals.get(order) ?? 0) + 1;
    this.#arrivals.set(order, times);
    this.#awaited.delete(order);
    if (times === 2) this.#doubled++;
  }

  counts(since: number = Date.now() - patienceMs): Counts {
    const sent = this.#acknowledged.size;
    const lost = [...this.#awaited.values()].filter((at) => at <= since).length;
    return { sent, delivered: sent - this.#awaited.size, lost, doubled: this.#doubled };
  }
}

/** The text of an order, in which its number is found again. */
export const textOf = (order: number): string => `Order ${order} is ready.`;
export const orderOf = (text: string): number => Number(/^Order (\d+) is ready\.$/.exec(text)?.[1]);
