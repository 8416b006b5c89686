/**
 * The number that a person typed. A text that is no number is returned as it is, so that the server
 * refuses it and names the field. Undefined if the field is empty.
 */
export function numberIn(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : text;
}
