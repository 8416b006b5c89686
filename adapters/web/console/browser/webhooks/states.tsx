/** How the states of endpoints, deliveries and attempts are shown. */
import type { JSX } from "preact";
import type { Delivery, DeliveryAttempt, Webhook } from "../../../../../src/index.ts";
import { Badge, exactDuration, type Tone } from "../../../shared/browser/index.ts";
import { statusTone } from "../parts/requests.tsx";
import { NoValue } from "../parts/values.tsx";
import { t } from "../texts.ts";

const webhookTones: { readonly [status in Webhook["status"]]: Tone } = {
  enabled: "good",
  paused: "neutral",
  disabled: "bad",
};

/** Whether the endpoint gets deliveries, and why not. */
export function WebhookStatus({
  of: { status, disabled_reason },
}: {
  readonly of: Webhook;
}): JSX.Element {
  const name = { enabled: t("enabled"), paused: t("paused"), disabled: t("disabled") }[status];
  const reasons: Partial<Record<string, string>> = {
    gone: t("disabledGone"),
    failing: t("disabledFailing"),
  };
  const reason = reasons[disabled_reason ?? ""];
  return (
    <Badge tone={webhookTones[status]} {...(reason !== undefined && { tip: reason })}>
      {name}
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
