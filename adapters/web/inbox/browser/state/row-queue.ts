/** The rows of a list that are read again: a few one by one, many with the list's beginning. */
import { type ApiError, isBusy, Repetition } from "../../../shared/browser/index.ts";

const roundDelayMs = 400;
/** How many rows are read one by one in each round. */
export const maxSingly = 10;

/** Where the rows come from. */
export interface RowReader {
  readonly readRow: (id: string) => Promise<unknown>;
  /** Reads the beginning of the list. Returns those of the rows that are still to be read. */
  readonly readBeginning: (ids: readonly string[]) => Promise<readonly string[]>;
}

export class RowQueue {
  private readonly reader: RowReader;
  private readonly wanted = new Set<string>();
  /** The rows that the beginning of the list did not have, and those that could not be read. */
  private left = new Set<string>();
  /** Whether a round is under way or due. The next one begins after it. */
  private isBegun = false;
  private readonly repetition = new Repetition();

  constructor(reader: RowReader) {
    this.reader = reader;
  }

  add(id: string): void {
    this.wanted.add(id);
    if (!this.isBegun) this.beginSoon();
  }

  private beginSoon(): void {
    this.isBegun = true;
    setTimeout(() => void this.round(), roundDelayMs);
  }

  private async round(): Promise<void> {
    const isMany = this.wanted.size > maxSingly;
    const ids = [...new Set([...this.left, ...this.wanted])];
    this.wanted.clear();
    this.left = new Set(isMany ? await this.reader.readBeginning(ids) : ids);
    const singly = [...this.left].slice(0, maxSingly);
    const failures = await Promise.all(singly.map((id) => this.read(id)));
    const busy = failures.find((error) => error !== undefined);
    if (busy !== undefined) {
      this.repetition.noteFailure(busy, () => void this.round());
      return;
    }
    this.repetition.noteSuccess();
    this.isBegun = false;
    if (this.left.size + this.wanted.size > 0) this.beginSoon();
  }

  /**
   * Returns an error if the row is to be read again later. After another error, it stays as it is.
   */
  private async read(id: string): Promise<ApiError | undefined> {
    this.left.delete(id);
    try {
      await this.reader.readRow(id);
    } catch (error) {
      if (!isBusy(error)) return undefined;
      this.left.add(id);
      return error;
    }
    return undefined;
  }
}
