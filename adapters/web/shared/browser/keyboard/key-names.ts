const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

const names: Partial<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Enter: "↵",
  Escape: "Esc",
  Ctrl: isMac ? "⌘" : "Ctrl",
  Shift: isMac ? "⇧" : "Shift",
};

/** The label of each key of a shortcut. Letters are capitals, since a small `l` looks like a 1. */
export const keyNames = (shortcut: string): string[] =>
  shortcut.split("+").map((key) => names[key] ?? (key.length === 1 ? key.toUpperCase() : key));
