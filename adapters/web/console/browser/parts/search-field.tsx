import type { JSX } from "preact";
import { TextField, useShortcuts } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

const search = "#main input[type=search]" as "input";

/** The field for the search or the filter of a page. The key `/` moves the focus to it. */
export function SearchField(props: Omit<Parameters<typeof TextField>[0], "type">): JSX.Element {
  useShortcuts(t("pages"), [
    { key: "/", label: t("keyFilter"), run: () => document.querySelector(search)?.focus() },
  ]);
  return <TextField {...props} type="search" />;
}
