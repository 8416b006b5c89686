/** How the states of endpoints, deliveries and attempts are shown. */
import type { JSX } from "preact";
import type { Delivery, DeliveryAttempt, Webhook } from "../../../../../src/index.ts";
import {
  Badge,
  dateTime,
  exactDuration,
  shortTime,
  type Tone,
} from "../../../shared/browser/index.ts";
import { statusTone } from "../parts/requests.tsx";
import { NoValue } from "../parts/values.tsx";
import { t } from "../texts.ts";

const webhookTones: { readonly [status in Webhook["status"]]: Tone } = {
  enabled: "good",
  paused: "neutral",
  disabled: "bad",
};

/** What is wrong with the endpoint, in a sentence. Undefined if nothing is. */
export function problemOf({ disabled_reason, failing_since }: Webhook): string | undefined {
  if (disabled_reason === "gone") return t("disabledGone");
  if (disabled_reason === "failing") return t("disabledFailing");
  return failing_since === null ? undefined : t("failingHint", { time: dateTime(failing_since) });
}

/** Whether the endpoint gets deliveries, and what is wrong. */
export function WebhookStatus({ of }: { readonly of: Webhook }): JSX.Element {
  const { status, failing_since } = of;
  const names = { enabled: t("enabled"), paused: t("paused"), disabled: t("disabled") };
  const tip = problemOf(of);
  const isFailing = status === "enabled" && failing_since !== null;
  return (
    <Badge tone={isFailing ? "warn" : webhookTones[status]} {...(tip !== undefined && { tip })}>
      {isFailing ? t("failingSince", { time: shortTime(failing_since) }) : names[status]}
    </Badge>
  );
}

const deliveryTones: { readonly [status in Delivery["status"]]: Tone } = {
  pending: "accent",
  succeeded: "good",
  failed: "bad",
  parked: "warn",
  canceled: "neutral",
};

export const deliveryName = (status: Delivery["status"]): string =>
  ({
    pending: t("deliveryPending"),
    succeeded: t("deliverySucceeded"),
    failed: t("deliveryFailed"),
    parked: t("deliveryParked"),
    canceled: t("deliveryCanceled"),
  })[status];

export const DeliveryStatus = ({ of }: { readonly of: Delivery["status"] }): JSX.Element => (
  <Badge tone={deliveryTones[of]}>{deliveryName(of)}</Badge>
);

/** The status or the failure of an attempt. */
export function Response({ of }: { readonly of: DeliveryAttempt | undefined }): JSX.Element {
  if (of === undefined) return <NoValue />;
  const { status_code, error, duration_ms } = of;
  return (
    <span class="nowrap">
      {status_code !== null && <Badge tone={statusTone(status_code)}>{status_code}</Badge>}{" "}
      {status_code === null && error !== null && <code>{error}</code>}{" "}
      <span class="muted">{exactDuration(duration_ms)}</span>
    </span>
  );
}
