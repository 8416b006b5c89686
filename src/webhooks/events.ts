import * as z from "zod";
import { defineEvent } from "../events/index.ts";
import { ids, type WebhookId } from "../kernel/index.ts";

/** The data of `webhook.disabled`. */
export interface WebhookDisabledData {
  /** The webhook. */
  readonly webhook_id: WebhookId;
  /** The URL of the webhook. */
  readonly url: string;
  /**
   * `gone`: the endpoint returned 410. `failing`: no attempt succeeded for five days, and at least
   * ten failed, on at least three days.
   */
  readonly reason: string;
}

export const webhookDisabled = defineEvent("webhook.disabled", {
  webhook_id: ids.webhook,
  url: z.string(),
  reason: z.string(),
});
