/** The rows that the page knows, each with the time at which the page learned it (`order.ts`). */
import { signal, type Signal } from "@preact/signals";

export class Known<Row extends { readonly id: string }> {
  private readonly rows = new Map<string, Signal<Row | undefined>>();
  private readonly sequences = new Map<string, number>();

  /** Increases when the page learns of another row. */
  private readonly learned = signal(0);

  get size(): number {
    return this.rows.size;
  }

  ids(): Iterable<string> {
    return this.rows.keys();
  }

  has(id: string): boolean {
    return this.rows.has(id);
  }

  /** A row, once the page knows it. */
  get(id: string): Row | undefined {
    const held = this.rows.get(id);
    // A component that waits for the row is drawn when the row comes.
    if (held === undefined) void this.learned.value;
    return held?.value;
  }

  /** A row as it is now, without a subscription to its changes. */
  now(id: string): Row | undefined {
    return this.rows.get(id)?.peek();
  }

  /** When the page learned what it knows of a row. See `nextSequence`. */
  sequenceOf(id: string): number {
    return this.sequences.get(id) ?? 0;
  }

  put(next: Row, sequence: number): void {
    this.sequences.set(next.id, sequence);
    const held = this.rows.get(next.id);
    if (held !== undefined) held.value = next;
    else {
      this.rows.set(next.id, signal(next));
      this.learned.value += 1;
    }
  }

  forget(id: string): void {
    const held = this.rows.get(id);
    this.rows.delete(id);
    // Components that show the row are drawn again without it.
    if (held !== undefined) held.value = undefined;
    this.sequences.delete(id);
  }
}
