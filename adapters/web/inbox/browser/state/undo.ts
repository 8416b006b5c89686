import type { Toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** What takes back the action that a message reports. */
export const undoAction = (run: () => void): NonNullable<Toast["action"]> => ({
  label: t("undo"),
  shortcut: "z",
  run,
});
