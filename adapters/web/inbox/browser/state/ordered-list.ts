/** The most rows of a block. A longer block is divided. */
const maxBlock = 512;

/**
 * Rows in an order, by their ids. They are kept in blocks, so that a change in a long list moves
 * the rows of one block and not all.
 */
export class OrderedList<Row extends { readonly id: string }> {
  private readonly order: (a: Row, b: Row) => number;
  private readonly blocks: Row[][] = [];
  /** Each row as it was when it got its place. A row that changes later is found by this one. */
  private readonly rows = new Map<string, Row>();

  constructor(order: (a: Row, b: Row) => number) {
    this.order = order;
  }

  get length(): number {
    return this.rows.size;
  }

  has(id: string): boolean {
    return this.rows.has(id);
  }

  /** The id at an index. */
  at(index: number): string | undefined {
    let before = 0;
    for (const block of this.blocks) {
      if (index < before + block.length) return block[index - before]?.id;
      before += block.length;
    }
    return undefined;
  }

  /** The index of an id, or -1. */
  indexOf(id: string): number {
    const row = this.rows.get(id);
    return row === undefined ? -1 : this.indexAt(this.find(row));
  }

  /** Whether `row` comes after all rows of the list. */
  isAfterAll(row: Row): boolean {
    const last = this.blocks.at(-1)?.at(-1);
    return last !== undefined && this.order(row, last) > 0;
  }

  /** Adds rows to the end, in the order in which they come. */
  append(rows: readonly Row[]): void {
    for (const row of rows) {
      const last = this.blocks.at(-1);
      if (last === undefined || last.length >= maxBlock) this.blocks.push([row]);
      else last.push(row);
      this.rows.set(row.id, row);
    }
  }

  /** Whether `place` would change the index of a row, or add it. */
  moves(row: Row): boolean {
    const before = this.rows.get(row.id);
    if (before === undefined) return true;
    const at = this.indexAt(this.find(before));
    const next = this.indexAt(this.seek(row));
    // Its own old place counts among those before the new one.
    return (at < next ? next - 1 : next) !== at;
  }

  /** Puts a row into its place in the order. Returns whether an index changed. */
  place(row: Row): boolean {
    const isMoved = this.moves(row);
    if (isMoved) {
      this.remove(row.id);
      this.insert(row);
    } else {
      const { block, index } = this.find(this.rows.get(row.id) ?? row);
      this.blocks[block]?.splice(index, 1, row);
    }
    this.rows.set(row.id, row);
    return isMoved;
  }

  /** Returns whether the row was in the list. */
  remove(id: string): boolean {
    const row = this.rows.get(id);
    if (row === undefined) return false;
    const { block, index } = this.find(row);
    this.rows.delete(id);
    const rows = this.blocks[block];
    rows?.splice(index, 1);
    if (rows?.length === 0) this.blocks.splice(block, 1);
    return true;
  }

  private insert(row: Row): void {
    const { block, index } = this.seek(row);
    const rows = this.blocks[block];
    if (rows === undefined) {
      this.append([row]);
      return;
    }
    rows.splice(index, 0, row);
    if (rows.length > maxBlock) this.blocks.splice(block + 1, 0, rows.splice(maxBlock / 2));
  }

  private find(row: Row): Place {
    const after = this.seek(row);
    const { block, index } =
      after.index > 0
        ? { block: after.block, index: after.index - 1 }
        : { block: after.block - 1, index: (this.blocks[after.block - 1]?.length ?? 0) - 1 };
    if (this.blocks[block]?.[index]?.id === row.id) return { block, index };
    // Appended rows may come in another order, such as the matches of a search.
    for (const [each, rows] of this.blocks.entries()) {
      const found = rows.findIndex(({ id }) => id === row.id);
      if (found !== -1) return { block: each, index: found };
    }
    return after;
  }

  /** The place of the first row that comes after `row`, or the end of the last block. */
  private seek(row: Row): Place {
    const isAfter = (other: Row | undefined): boolean =>
      other !== undefined && this.order(other, row) > 0;
    const { blocks } = this;
    const block = firstIndex(blocks.length, (each) => isAfter(blocks[each]?.at(-1)));
    const rows = blocks[block];
    if (rows !== undefined) {
      return { block, index: firstIndex(rows.length, (each) => isAfter(rows[each])) };
    }
    return { block: Math.max(0, blocks.length - 1), index: blocks.at(-1)?.length ?? 0 };
  }

  private indexAt({ block, index }: Place): number {
    let before = 0;
    for (let each = 0; each < block; each++) before += this.blocks[each]?.length ?? 0;
    return before + index;
  }
}

interface Place {
  readonly block: number;
  readonly index: number;
}

/** The first index of `length` at which a condition holds that holds at all later ones, too. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
