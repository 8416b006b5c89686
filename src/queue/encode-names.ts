/** Names in one text, so that the same names always give the same text and no others give it. */
export function encodeNames(names: readonly string[]): string {
  return names.map((name) => name.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}

/** The names that `encodeNames` was given, at least one. */
export function decodeNames(text: string): string[] {
  return text.split("/").map((name) => name.replaceAll("%2F", "/").replaceAll("%25", "%"));
}
