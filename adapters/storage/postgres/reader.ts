import type { Lookup, Range, Reader, Row, Search } from "../../../src/ports/storage.ts";
import type { Ground } from "./groups.ts";
import { planLookups } from "./lookups.ts";
import { place, waiting } from "./positions.ts";
import { rangeStatement } from "./ranges.ts";
import { planSettings, searchSettings } from "./settings.ts";
import { searchStatement } from "./words.ts";

/** Reads committed rows on the connections of the pool. */
export class PostgresReader implements Reader {
  readonly #ground: () => Ground;

  constructor(ground: () => Ground) {
    this.#ground = ground;
  }

  async get(lookups: readonly Lookup[]): Promise<readonly (readonly Row[])[]> {
    const { connections, table } = this.#ground();
    const { statements, rows } = planLookups(lookups, table);
    const [, ...results] = await connections.atomic([planSettings, ...statements]);
    return rows(results);
  }

  async range(range: Range): Promise<readonly Row[]> {
    const { rows, unplaced } = await this.#range(range);
    // What has no place yet comes last.
    if (!unplaced || (range.order === "ascending" && rows.length >= range.limit)) return rows;
    const { connections, names, table } = this.#ground();
    const log = table(range.index.collection.name);
    // A database that takes no writes can still be read as far as it goes.
    await place(connections, names, log, log.layout.position ?? "").catch(() => {});
    return (await this.#range(range)).rows;
  }

  async search(searches: readonly Search[]): Promise<readonly (readonly Row[])[]> {
    const { connections, table: tableOf } = this.#ground();
    const asked = searches.map((search) => ({
      search,
      table: tableOf(search.index.collection.name),
    }));
    const statements = asked.map(({ search, table }) => searchStatement(search, table));
    const [, ...found] = await connections.atomic([searchSettings, ...statements]);
    return asked.map(({ table }, i) =>
      (found[i]?.rows ?? []).map((values) => table.decode(values)),
    );
  }

  /** `unplaced`: the rows are in a log's order, and some of the log are in no place yet. */
  async #range(
    range: Range,
  ): Promise<{ readonly rows: readonly Row[]; readonly unplaced: boolean }> {
    const { connections, table: tableOf } = this.#ground();
    const { index, limit } = range;
    const table = tableOf(index.collection.name);
    const planned = rangeStatement(range, table);
    if (planned === undefined) return { rows: [], unplaced: false };
    const { position } = table.layout;
    // Asked first: what another process places in between is then among the rows.
    const inPlace =
      position !== undefined && index.columns.includes(position) ? [waiting(table, position)] : [];
    const [, ...results] = await connections.atomic([planSettings, ...inPlace, planned.statement]);
    const rows = (results.at(-1)?.rows ?? [])
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .slice(planned.skipped, planned.skipped + limit)
      .map(([, ...values]) => table.decode(values));
    return { rows, unplaced: results.slice(0, -1).some((waited) => waited.rows.length > 0) };
  }
}
