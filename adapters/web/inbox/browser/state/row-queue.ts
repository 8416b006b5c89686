/** The rows of a list that are read again: a few one by one, many with the list's beginning. */
import {
  ApiError,
  isBusy,
  OfflineError,
  offlineUntil,
  Repetition,
} from "../../../shared/browser/index.ts";

const roundDelayMs = 400;
/** How many rows are read one by one in each round. */
export const maxSingly = 10;
const firstPauseMs = 2_000;
const maxPauseMs = 30_000;
/** How often in a row a server that answers may fail to read a row. */
const maxFailures = 5;

/** Where the rows come from. */
export interface RowReader {
  readonly readRow: (id: string) => Promise<unknown>;
  /** Reads the beginning of the list. Returns those of the rows that are still to be read. */
  readonly readBeginning: (ids: readonly string[]) => Promise<readonly string[]>;
}

export class RowQueue {
  private readonly reader: RowReader;
  private readonly wanted = new Set<string>();
  /** The rows that the beginning of the list did not have, and those that were refused for now. */
  private left = new Set<string>();
  /** How often in a row a row could not be read. */
  private readonly failures = new Map<string, number>();
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

  /** Returns the error if the server cannot answer for now. Then all rows wait. */
  private async read(id: string): Promise<ApiError | undefined> {
    this.left.delete(id);
    try {
      await this.reader.readRow(id);
    } catch (error) {
      if (isBusy(error)) {
        this.left.add(id);
        return error;
      }
      this.readLater(id, error);
      return undefined;
    }
    this.failures.delete(id);
    return undefined;
  }

  /**
   * Reads a row again after a pause, since no other event may come. The others do not wait: the
   * server may fail for this row alone. If it fails each time, the row stays as it is.
   */
  private readLater(id: string, error: unknown): void {
    const failures = (this.failures.get(id) ?? 0) + 1;
    const isTemporary =
      error instanceof OfflineError || (error instanceof ApiError && error.isTemporary);
    // An outage may be long. It tells nothing about the row.
    const isOutage = offlineUntil.peek() !== null;
    if (!isTemporary || (failures >= maxFailures && !isOutage)) {
      this.failures.delete(id);
      return;
    }
    this.failures.set(id, failures);
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1));
    setTimeout(() => this.add(id), pauseMs);
  }
}
