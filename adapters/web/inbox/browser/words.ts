/** The words of the states that conversations and messages can be in. */
import type { Contact, Conversation, Message, Priority } from "../../../../src/index.ts";
import {
  dayAndTime,
  isVisible,
  shownAddress,
  type IconName,
  type Tone,
} from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

export const priorityName = (priority: Priority): string =>
  ({
    low: t("priorityLow"),
    normal: t("priorityNormal"),
    high: t("priorityHigh"),
    urgent: t("priorityUrgent"),
  })[priority];

export const priorityTone = (priority: Priority): Tone =>
  priority === "urgent" ? "bad" : priority === "high" ? "warn" : "neutral";

/** The name of a contact, or the address that stands for it as elsewhere. */
export const contactName = ({ name, phone, identities, email, id }: Contact): string =>
  shownAddress(isVisible(name) ? name : (phone ?? identities[0]?.address ?? email ?? id));

/** The same for a contact as conversations have it. */
export const nameIn = ({ contact: { name, phone, id } }: Pick<Conversation, "contact">): string =>
  shownAddress(isVisible(name) ? name : (phone ?? id));

export const mediumName = (medium: Conversation["medium"]): string =>
  medium === "webchat" ? t("channelWebchat") : t("channelText");

export const mediumIcon = (medium: Conversation["medium"]): IconName =>
  medium === "webchat" ? "chat" : "phone";

/** How a status is shown. */
export interface ShownStatus {
  readonly label: string;
  readonly icon: IconName;
  readonly tone: Tone;
}

const statuses: {
  readonly [status in Message["status"]]: () => ShownStatus;
} = {
  scheduled: () => ({ label: t("statusScheduled"), icon: "calendar", tone: "neutral" }),
  queued: () => ({ label: t("statusQueued"), icon: "clock", tone: "neutral" }),
  sending: () => ({ label: t("statusSending"), icon: "clock", tone: "neutral" }),
  canceled: () => ({ label: t("statusCanceled"), icon: "close", tone: "neutral" }),
  expired: () => ({ label: t("statusExpired"), icon: "alert", tone: "bad" }),
  failed: () => ({ label: t("statusFailed"), icon: "alert", tone: "bad" }),
  ambiguous: () => ({ label: t("statusAmbiguous"), icon: "alert", tone: "warn" }),
  sent: () => ({ label: t("statusSent"), icon: "check", tone: "neutral" }),
  unconfirmed: () => ({ label: t("statusUnconfirmed"), icon: "check", tone: "warn" }),
  undelivered: () => ({ label: t("statusUndelivered"), icon: "alert", tone: "bad" }),
  delivered: () => ({ label: t("statusDelivered"), icon: "check-all", tone: "neutral" }),
  read: () => ({ label: t("statusRead"), icon: "check-all", tone: "accent" }),
  received: () => ({ label: t("statusReceived"), icon: "check", tone: "neutral" }),
};

/** How the status of a message is shown. A status that a later version adds is shown as it is. */
export function shownStatus({ status, send_at }: Pick<Message, "status" | "send_at">): ShownStatus {
  const shown = (statuses as Partial<typeof statuses>)[status]?.();
  if (shown === undefined) return { label: status, icon: "info", tone: "neutral" };
  if (status !== "scheduled" || send_at === null) return shown;
  return { ...shown, label: t("statusScheduledFor", { time: dayAndTime(send_at) }) };
}

/** The same by the status alone. */
export const statusName = (status: Message["status"]): string =>
  shownStatus({ status, send_at: null }).label;

/** The statuses of messages that wait to be sent, or did not arrive. */
const notable: ReadonlySet<Message["status"]> = new Set([
  "scheduled",
  "queued",
  "sending",
  "canceled",
  "expired",
  "failed",
  "ambiguous",
  "undelivered",
]);

/** How the list shows that a message waits to be sent, or did not arrive. Otherwise undefined. */
export const notableStatus = (status: Message["status"]): ShownStatus | undefined =>
  notable.has(status) ? shownStatus({ status, send_at: null }) : undefined;
