import type { Toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** The button of a toast that undoes the action which the toast reports. */
export const undoAction = (run: () => void): NonNullable<Toast["action"]> => ({
  label: t("undo"),
  shortcut: "z",
  run,
});
