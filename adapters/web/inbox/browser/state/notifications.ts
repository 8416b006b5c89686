/** Desktop notifications, if the person turned them on. */
import { signal } from "@preact/signals";
import { firstCharacters, linkTo, recall, remember } from "../../../shared/browser/index.ts";

const setting = "notifications";

const isSupported = "Notification" in window;

/** Whether notifications are shown. */
export const notifications = signal(
  isSupported && Notification.permission === "granted" && recall(setting) === "on",
);

/** Turns notifications on or off. Returns false if the browser refuses them. */
export async function setNotifications(enabled: boolean): Promise<boolean> {
  if (enabled && (!isSupported || (await Notification.requestPermission()) !== "granted")) {
    return false;
  }
  set(enabled);
  return true;
}

function set(enabled: boolean): void {
  notifications.value = enabled;
  remember(setting, enabled ? "on" : undefined);
}

const maxBody = 140;

/** Tells of a new message while the page is out of sight. */
export function notify(message: {
  readonly id: string;
  readonly name: string;
  readonly body: string;
}): void {
  if (!notifications.peek() || document.visibilityState === "visible") return;
  // The tag makes the notifications of several tabs one.
  const options = { body: firstCharacters(message.body, maxBody), tag: message.id };
  try {
    const shown = new Notification(message.name, options);
    shown.addEventListener("click", () => {
      window.focus();
      // The page treats this like a click on a link: a dialog with entries asks before it closes.
      location.hash = linkTo(["all", message.id]);
      shown.close();
    });
  } catch {
    // Chrome on Android grants them, but throws: it leaves them to service workers.
    set(false);
  }
}
