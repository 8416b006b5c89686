import { signal } from "@preact/signals";
import { recall, remember } from "../../../shared/browser/index.ts";

const setting = "inbox-contact";
const wide = matchMedia("(min-width: 75rem)");

/** Whether the contact is shown. At first not on narrow screens, where it covers the thread. */
export const isContactShown = signal(wide.matches && recall(setting) !== "off");

export function showContact(isShown: boolean): void {
  isContactShown.value = isShown;
  if (wide.matches) remember(setting, isShown ? undefined : "off");
}

/** Hides the contact where it covers the thread. */
export function uncoverThread(): void {
  if (!wide.matches) showContact(false);
}

wide.addEventListener("change", ({ matches }) => {
  // Who works in it, or in a dialog of it, loses nothing when the window gets narrower.
  if (document.querySelector(".contact")?.contains(document.activeElement) === true) return;
  isContactShown.value = matches && recall(setting) !== "off";
});
