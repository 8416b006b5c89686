/** The list of the shortcuts that work now. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox } from "../components/field.tsx";
import { keyNames } from "../keyboard/key-names.ts";
import { setSingleKeys, shortcuts, singleKeys, useShortcuts } from "../keyboard/shortcuts.ts";
import { text } from "../texts/shared-texts.ts";

const isHelpOpen = signal(false);

/** Opens the list of all shortcuts. */
export const openShortcutHelp = (): void => {
  isHelpOpen.value = true;
};

/** Adds `?`, which opens the list of shortcuts. */
export function useShortcutHelp(): void {
  useShortcuts(text("shortcutsGeneral"), [
    { key: "?", label: text("shortcutHelp"), run: openShortcutHelp },
  ]);
}

/** The list of shortcuts, while it is open. */
export function ShortcutHelp(): JSX.Element | null {
  if (!isHelpOpen.value) return null;
  return (
    <Dialog title={text("shortcutsTitle")} isWide onClose={() => (isHelpOpen.value = false)}>
      <div class="shortcut-groups">
        {[...Map.groupBy(shortcuts.value, ({ group }) => group)].map(([group, own]) => (
          <section key={group}>
            <h3 class="muted">{group}</h3>
            <dl>
              {own.map(({ key, label }) => (
                <div key={key} class="shortcut-row">
                  <dt>{label}</dt>
                  <dd>
                    <Keys of={key} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Checkbox
        label={text("shortcutsEnabled")}
        checked={singleKeys.value}
        onChange={setSingleKeys}
      />
      <p class="field-hint">{text("shortcutsHint")}</p>
    </Dialog>
  );
}

/** The keys of a shortcut. */
export function Keys({ of }: { readonly of: string }): JSX.Element {
  return (
    <span class="keys">
      {keyNames(of).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
