import { signal } from "@preact/signals";
import { recall, remember } from "../../../shared/browser/index.ts";

const setting = "inbox-contact";
const wide = matchMedia("(min-width: 75rem)");

/** Whether the contact is shown. At first not on narrow screens, where it covers the thread. */
export const isContactShown = signal(wide.matches && recall(setting) !== "off");

export function showContact(isShown: boolean): void {
  // Whoever hides it from within goes back to where it is shown again.
  if (!isShown && hasFocus()) document.querySelector<HTMLElement>("[data-contact-toggle]")?.focus();
  isContactShown.value = isShown;
  if (wide.matches) remember(setting, isShown ? undefined : "off");
}

const hasFocus = (): boolean =>
  document.querySelector(".contact")?.contains(document.activeElement) === true;

/** Whether the contact covers the thread when it is shown. */
export const coversThread = (): boolean => !wide.matches;

/** Hides the contact where it covers the thread. */
export function uncoverThread(): void {
  if (coversThread()) showContact(false);
}

wide.addEventListener("change", ({ matches }) => {
  // Who works in it, or in a dialog of it, loses nothing when the window gets narrower.
  if (hasFocus()) return;
  isContactShown.value = matches && recall(setting) !== "off";
});
