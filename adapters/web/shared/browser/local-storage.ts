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

/** Returns all stored values whose key begins with `start`, and the rest of each key. */
export function recallAll(start: string): [rest: string, value: string][] {
  try {
    return Object.entries(localStorage)
      .filter(([key]) => key.startsWith(prefix + start))
      .map(([key, value]) => [key.slice((prefix + start).length), String(value)]);
  } catch {
    return [];
  }
}

/** Calls `listener` when another tab stores a value, or removes it. */
export function onRemembered(listener: (key: string, value: string | undefined) => void): void {
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key?.startsWith(prefix) === true) listener(key.slice(prefix.length), newValue ?? undefined);
  });
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
