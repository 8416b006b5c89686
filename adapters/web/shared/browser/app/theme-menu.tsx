import type { JSX } from "preact";
import { Menu } from "../components/menu.tsx";
import { text } from "../texts/shared-texts.ts";
import { setTheme, theme } from "./theme.ts";

/** The choice of the appearance. */
export function ThemeMenu(): JSX.Element {
  const choices = [
    { value: "system", label: text("themeSystem"), icon: "settings" },
    { value: "light", label: text("themeLight"), icon: "sun" },
    { value: "dark", label: text("themeDark"), icon: "moon" },
  ] as const;
  return (
    <Menu
      label={text("themeLabel")}
      icon={theme.value === "dark" ? "moon" : "sun"}
      items={choices.map(({ value, label, icon }) => ({
        label,
        icon,
        isChosen: theme.value === value,
        onPick: () => setTheme(value),
      }))}
    />
  );
}
