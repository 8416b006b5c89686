/** The rows that the page knows, and when it learned what it knows of each. */
import { type Signal, signal } from "@preact/signals";

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
    // Whoever waits for it is drawn when it comes.
    if (held === undefined) void this.learned.value;
    return held?.value;
  }

  /** Its value now, without listening to changes. */
  now(id: string): Row | undefined {
    return this.rows.get(id)?.peek();
  }

  /** The place of what the page knows of a row, among all that it learned. */
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
    // Whoever shows it no longer does.
    if (held !== undefined) held.value = undefined;
    this.sequences.delete(id);
  }
}
