/** Lists of names as one text, for the keys and the lanes of jobs. */

/** Joins names into one text. Different lists of names have different texts. */
export function encodeNames(names: readonly string[]): string {
  return names.map(escapeName).join("/");
}

/** Splits a text that `encodeNames` made. */
export function decodeNames(text: string): string[] {
  return text
    .split("/")
    .map((name) =>
      name.includes("%") ? name.replaceAll("%2F", "/").replaceAll("%25", "%") : name,
    );
}

function escapeName(name: string): string {
  return /[%/]/.test(name) ? name.replaceAll("%", "%25").replaceAll("/", "%2F") : name;
}
