import { cellName, type Counts } from "./coverage.ts";
import { allCells, places, type Cell, type Place } from "./places.ts";

/** Faults that could have happened and never did, as one line for each row. */
export function neverMet(counts: Counts): readonly string[] {
  const open = allCells().filter((cell) => cell.never === undefined && countOf(counts, cell) === 0);
  return [...Map.groupBy(open, ({ place, row }) => `${place} ${row}`)].map(
    ([row, cells]) => `${row}: ${cells.map(({ fault }) => fault).join(", ")}`,
  );
}

/** Cells that happened, although `places.ts` says that they cannot. */
export function wronglyExcluded(counts: Counts): readonly string[] {
  const known = new Map(
    allCells().map((cell) => [cellName(cell.place, cell.row, cell.fault), cell]),
  );
  return Object.keys(counts).filter((name) => known.get(name)?.never !== undefined);
}

/** One table for each place: how often each fault happened to each row. A dot: it cannot. */
export function coverageTable(counts: Counts): string {
  const cells = allCells();
  return (Object.keys(places) as Place[])
    .map((place) =>
      section(
        place,
        cells.filter((cell) => cell.place === place),
        counts,
      ),
    )
    .join("\n\n");
}

function section(place: Place, cells: readonly Cell[], counts: Counts): string {
  const faults = [...new Set(cells.map(({ fault }) => fault))];
  const rows = [...Map.groupBy(cells, ({ row }) => row)];
  const heads = faults.map((fault) => fault.split(/(?=[A-Z])/).map((word) => word.toLowerCase()));
  const height = Math.max(...heads.map((words) => words.length));
  const widths = heads.map((words) => Math.max(6, ...words.map(({ length }) => length)) + 1);
  const first = Math.max(...rows.map(([row]) => row.length));
  const head = Array.from({ length: height }, (_, line) =>
    heads.map((words, i) => (words[line] ?? "").padStart(widths[i] ?? 0)).join(""),
  ).map((line) => `${" ".repeat(first)}${line}`);
  const body = rows.map(([row, each]) =>
    [
      row.padEnd(first),
      ...each.map((cell, i) => textOf(counts, cell).padStart(widths[i] ?? 0)),
    ].join(""),
  );
  return [`${places[place]}:`, ...head, ...body].join("\n");
}

function textOf(counts: Counts, cell: Cell): string {
  return cell.never === undefined ? String(countOf(counts, cell)) : ".";
}

function countOf(counts: Counts, { place, row, fault }: Cell): number {
  return counts[cellName(place, row, fault)] ?? 0;
}
