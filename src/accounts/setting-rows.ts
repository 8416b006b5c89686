import { collection, text } from "../ports/collection.ts";

/** What the engine keeps about itself, for all accounts: the key of its keyed hashes. */
export interface SettingRow {
  readonly name: "secret";
  readonly value: string;
}

export const settings = collection<SettingRow>("settings", { name: text, value: text });
export const settingByName = settings.key("name");
