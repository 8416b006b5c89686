/** Webhooks receive events. */
import * as z from "zod";
import { ids, timestamp, type WebhookId } from "../kernel/index.ts";
import { eventPatternSchema, type EventPattern } from "./event-patterns.ts";

/** Whether a webhook gets deliveries. The engine disables a webhook that keeps failing. */
export type WebhookStatus = "enabled" | "paused" | "disabled";
export const webhookStatusSchema = z.enum(["enabled", "paused", "disabled"]);

/** Whether deliveries are sent one at a time, in commit order (`fifo`), or several at once. */
export type WebhookOrdering = "none" | "fifo";
export const webhookOrderingSchema = z.enum(["none", "fifo"]);

const webhookFields = {
  id: ids.webhook,
  url: z.string(),
  events: z.array(eventPatternSchema),
  headers: z.record(z.string(), z.string()),
  ordering: webhookOrderingSchema,
  description: z.string().nullable(),
  status: webhookStatusSchema,
  disabled_reason: z.string().nullable(),
  failing_since: timestamp.nullable(),
  previous_expires_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};

/** An endpoint that the engine posts events to. */
export interface Webhook {
  /** The id of the webhook. */
  readonly id: WebhookId;
  /** The URL that events are posted to. */
  readonly url: string;
  /** Event types, or patterns such as `*` and `message.*`. */
  readonly events: EventPattern[];
  /** Headers that you added to each request, such as `Authorization`. */
  readonly headers: Record<string, string>;
  /**
   * `fifo` sends one delivery at a time, in the order in which the events were committed. `none`
   * sends several at once.
   */
  readonly ordering: WebhookOrdering;
  /** Your description. Null if there is none. */
  readonly description: string | null;
  /**
   * `enabled`: deliveries are sent. `paused`: you stopped them. `disabled`: the engine stopped them
   * because the endpoint failed. Deliveries are kept and sent when it is enabled.
   */
  readonly status: WebhookStatus;
  /**
   * Why the engine disabled the webhook. `gone`: the endpoint returned 410. `failing`: no attempt
   * succeeded for five days, and at least ten failed, on at least three days. Null unless the
   * status is `disabled`.
   */
  readonly disabled_reason: string | null;
  /**
   * The time of the first automatic attempt that failed since the last success. Null if the last
   * automatic attempt succeeded, or if there was none since the webhook was created, was enabled or
   * got its URL.
   */
  readonly failing_since: string | null;
  /**
   * Until this time, deliveries are also signed with the previous secret. Null if the secret was
   * never rotated, or was last rotated without a grace period.
   */
  readonly previous_expires_at: string | null;
  /** When the webhook was created. */
  readonly created_at: string;
  /** When the webhook was last changed, by you or by the engine. */
  readonly updated_at: string;
}

export const webhookSchema = z.strictObject(webhookFields).meta({ id: "Webhook" });

/** A webhook with its new secret, as creating it or rotating its secret returns it. */
export interface WebhookWithSecret extends Webhook {
  /**
   * The secret that verifies signatures, as Standard Webhooks define it: `whsec_` and base64.
   * Returned only once. A replay of the request returns null.
   */
  readonly secret: string | null;
}

export const webhookWithSecretSchema = z
  .strictObject({
    ...webhookFields,
    secret: z.string().nullable(),
  })
  .meta({ id: "WebhookWithSecret" });

/** Automatic attempts that failed since the last automatic attempt that succeeded. */
export interface FailingStreak {
  /** When the first of these attempts failed. */
  readonly since: number;
  readonly attempts: number;
  /** The number of days (UTC) with failures. */
  readonly days: number;
  /** The last day with a failure, in days since the epoch. */
  readonly last_day: number;
}
