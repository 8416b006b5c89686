/** Rows under a head, in aligned columns; all but the first to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return lines.map((line) => `  ${line.map(pad).join("  ")}`).join("\n");
}

export const count = (n: number): string => Math.round(n).toLocaleString("en");
export const ratio = (n: number): string => n.toFixed(2);
