/** The words and colors of states. A value that a later version adds is shown as it is. */
import type { Message } from "../../../../src/index.ts";
import type { IconName, Tone } from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

/** How a state is shown. */
export interface Shown {
  readonly label: string;
  readonly tone: Tone;
  readonly icon: IconName;
}

const statuses: { readonly [status in Message["status"]]: () => Shown } = {
  scheduled: () => ({ label: t("statusScheduled"), icon: "calendar", tone: "neutral" }),
  queued: () => ({ label: t("statusQueued"), icon: "clock", tone: "neutral" }),
  sending: () => ({ label: t("statusSending"), icon: "send", tone: "accent" }),
  canceled: () => ({ label: t("statusCanceled"), icon: "close", tone: "neutral" }),
  expired: () => ({ label: t("statusExpired"), icon: "alert", tone: "bad" }),
  failed: () => ({ label: t("statusFailed"), icon: "alert", tone: "bad" }),
  ambiguous: () => ({ label: t("statusAmbiguous"), icon: "alert", tone: "warn" }),
  sent: () => ({ label: t("statusSent"), icon: "check", tone: "accent" }),
  unconfirmed: () => ({ label: t("statusUnconfirmed"), icon: "clock", tone: "warn" }),
  undelivered: () => ({ label: t("statusUndelivered"), icon: "alert", tone: "bad" }),
  delivered: () => ({ label: t("statusDelivered"), icon: "check-all", tone: "good" }),
  read: () => ({ label: t("statusRead"), icon: "check-all", tone: "good" }),
  received: () => ({ label: t("statusReceived"), icon: "inbox", tone: "neutral" }),
};

export const statusNames = Object.keys(statuses) as readonly Message["status"][];

export function shownStatus(status: Message["status"]): Shown {
  return (
    (statuses as Partial<typeof statuses>)[status]?.() ?? {
      label: status,
      icon: "info",
      tone: "neutral",
    }
  );
}
