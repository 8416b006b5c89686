/** The words and colors of states. A value that a later version adds is shown as it is. */
import type { Message } from "../../../../src/index.ts";
import { type IconName, number, type Tone } from "../../shared/browser/index.ts";
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

const units = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
  { unit: "second", ms: 1000 },
  { unit: "millisecond", ms: 1 },
] as const;

/** A time span in its two largest units: `340ms`, `2.4s`, `3m 20s`. */
export function span(ms: number): string {
  const shown = (value: number, unit: string, digits = 0): string =>
    number(value, { style: "unit", unit, unitDisplay: "narrow", maximumFractionDigits: digits });
  const size = Math.max(0, Math.round(ms));
  if (size < 1000) return shown(size, "millisecond");
  if (size < 60_000) return shown(size / 1000, "second", 1);
  const at = units.findIndex((each) => size >= each.ms);
  const [first, second] = [units[at], units[at + 1]];
  if (first === undefined || second === undefined) return shown(size, "millisecond");
  const rest = Math.floor((size % first.ms) / second.ms);
  const whole = shown(Math.floor(size / first.ms), first.unit);
  return rest === 0 ? whole : `${whole} ${shown(rest, second.unit)}`;
}
