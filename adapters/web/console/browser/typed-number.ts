/**
 * The number that a person typed. A text that is no number stays a text, so that the server names
 * the problem of its field. Undefined if the field is empty.
 */
export function numberIn(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : text;
}
