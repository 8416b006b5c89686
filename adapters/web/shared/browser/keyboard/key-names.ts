const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const names: Partial<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Enter: "↵",
  Escape: "Esc",
  Ctrl: isMac ? "⌘" : "Ctrl",
  Shift: isMac ? "⇧" : "Shift",
};

/** What stands on each key of a shortcut. A small `l` would look like a one. */
export const keyNames = (shortcut: string): string[] =>
  shortcut.split("+").map((key) => names[key] ?? (key.length === 1 ? key.toUpperCase() : key));
