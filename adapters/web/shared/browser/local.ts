/** What a page remembers in this browser. A browser may refuse to store anything. */

const prefix = "tidings:";

/** Returns a stored value, or undefined. */
export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(prefix + key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it. */
export function remember(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, value);
  } catch {
    // The page works without it until it is reloaded.
  }
}
