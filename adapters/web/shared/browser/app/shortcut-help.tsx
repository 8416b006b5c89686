/** The list of the shortcuts that work now. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox } from "../components/field.tsx";
import { setSingleKeys, shortcuts, singleKeys, useShortcuts } from "../keyboard/shortcuts.ts";
import { text } from "../texts/shared-texts.ts";

const isHelpOpen = signal(false);

/** Opens the list of all shortcuts. */
export const openShortcutHelp = (): void => {
  isHelpOpen.value = true;
};

/** Adds `?`, which opens the list of shortcuts. */
export function useShortcutHelp(): void {
  useShortcuts([{ key: "?", label: text("shortcutHelp"), run: openShortcutHelp }]);
}

/** The list of shortcuts, while it is open. */
export function ShortcutHelp(): JSX.Element | null {
  if (!isHelpOpen.value) return null;
  return (
    <Dialog title={text("shortcutsTitle")} onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcut-list">
        {shortcuts.value.map(({ key, label }) => (
          <div key={key} class="shortcut-row">
            <dt>{label}</dt>
            <dd>
              <Keys of={key} />
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label={text("shortcutsEnabled")}
        checked={singleKeys.value}
        onChange={setSingleKeys}
      />
      <p class="field-hint">{text("shortcutsHint")}</p>
    </Dialog>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const shownKeys: Partial<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Enter: "↵",
  Escape: "Esc",
  Ctrl: isMac ? "⌘" : "Ctrl",
};

/** The keys of a shortcut. */
export function Keys({ of }: { readonly of: string }): JSX.Element {
  const keys = of === "+" ? [of] : of.split("+");
  return (
    <span class="keys">
      {keys.map((key) => (
        <kbd key={key}>{shownKeys[key] ?? key}</kbd>
      ))}
    </span>
  );
}
