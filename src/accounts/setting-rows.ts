import { collection, type RowOf, text } from "../ports/index.ts";

/** What the engine keeps about itself, for all accounts: the key of its keyed hashes. */
export const settings = collection("settings", {
  name: text<"secret">(),
  value: text(),
});
export interface SettingRow extends RowOf<typeof settings> {}

export const settingByName = settings.key("name");
