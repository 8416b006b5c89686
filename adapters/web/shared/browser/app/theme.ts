import { signal } from "@preact/signals";
import { onRemembered, recall, remember } from "../local-storage.ts";

/** The appearance: the system's, or the one that the person chose. */
export type Theme = "system" | "light" | "dark";

const key = "theme";

/** The chosen appearance. */
export const theme = signal<Theme>(themeOf(recall(key)));

function themeOf(stored: string | undefined): Theme {
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Applies the appearance and remembers it. */
export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  remember(key, chosen === "system" ? undefined : chosen);
  applyTheme();
}

// All tabs of the page look the same.
onRemembered((changed, stored) => {
  if (changed !== key) return;
  theme.value = themeOf(stored);
  applyTheme();
});

/** Applies the remembered appearance. Call it before the first rendering. */
export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}
