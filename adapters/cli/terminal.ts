/** Text for the terminal. Colors appear only on a terminal, and not with NO_COLOR. */
import { stripVTControlCharacters, styleText } from "node:util";

export const bold = (text: string): string => styleText("bold", text);
export const dim = (text: string): string => styleText("dim", text);
export const green = (text: string): string => styleText("green", text);
export const yellow = (text: string): string => styleText("yellow", text);
export const red = (text: string): string => styleText("red", text);

/** Writes lines to the standard output. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** Writes lines to the standard error: everything that is not a result of the command. */
export function note(...lines: readonly string[]): void {
  const text = `${lines.join("\n")}\n`;
  const { stderr } = process;
  // The colors are those for the standard output, which may be a terminal when this is a file.
  const hasColors = styleText("bold", "", { stream: stderr }) !== "";
  stderr.write(hasColors ? text : stripVTControlCharacters(text));
}

const widthOf = (text: string): number => [...stripVTControlCharacters(text)].length;

/** Returns one line per row, with aligned columns. Colors do not count as width. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}

const namesPerLine = 4;

/** Returns a list of names with a label, in aligned lines. */
export function labeledList(label: string, names: readonly string[]): string[] {
  const count = Math.ceil(names.length / namesPerLine);
  return Array.from({ length: count }, (_, i) => {
    const line = names.slice(i * namesPerLine, (i + 1) * namesPerLine).join(", ");
    const start = i === 0 ? label : " ".repeat(label.length);
    return `${start} ${line}${i < count - 1 ? "," : ""}`;
  });
}

/** Characters that could move the cursor, change colors or reverse the text around them. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** Returns untrusted text as one line that is safe to print, cut to `maxCharacters`. */
export function oneLine(text: string, maxCharacters = 80): string {
  const plain = [...text.replaceAll(unprintable, " ").trim()];
  return plain.length <= maxCharacters
    ? plain.join("")
    : `${plain.slice(0, maxCharacters - 1).join("")}…`;
}

/** Returns the time of day, `14:03:27`. */
export function timeOfDay(at: Date = new Date()): string {
  return at.toTimeString().slice(0, 8);
}
