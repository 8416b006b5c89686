/** Inputs of the operations on webhooks. */
import * as z from "zod";
import { defaultGraceSeconds } from "../accounts/index.ts";
import { eventTypeSchema, type EventType } from "../events/index.ts";
import { distinct, instant, text, wholeRecord } from "../kernel/index.ts";
import { eventPatternSchema, type EventPattern } from "./event-patterns.ts";
import { headerLimits, headerName, headerProblems, headerValue } from "./headers.ts";
import { webhookOrderingSchema, webhookStatusSchema, type WebhookOrdering } from "./types.ts";

const url = z.string().meta({ format: "uri" });

const events = distinct(z.array(eventPatternSchema).min(1).max(50));

const headers = wholeRecord(
  z
    .record(
      // Only for the document: `headerProblems` says what is wrong, with a code of its own.
      z.string().meta({ maxLength: headerLimits.name, pattern: headerName.source }),
      z.string().meta({ maxLength: headerLimits.value, pattern: headerValue.source }),
    )
    .superRefine((given, context) => {
      for (const { name, code, message } of headerProblems(given)) {
        context.addIssue({
          code: "custom",
          message,
          path: name === undefined ? [] : [name],
          params: { code },
        });
      }
    })
    .meta({ maxProperties: headerLimits.count }),
  headerLimits.count,
  "too_many",
);

/** A new webhook. */
export interface CreateWebhook {
  /**
   * An https URL with a public host, at most 2,048 characters when it is percent-encoded. The
   * sandbox also accepts http.
   */
  readonly url: string;
  /** Event types, or patterns such as `*` and `message.*`. At most 50. */
  readonly events: readonly EventPattern[];
  /** Headers of each delivery: at most 20, and at most 8,192 characters in total. */
  readonly headers?: Record<string, string> | undefined;
  /**
   * `fifo` sends one delivery at a time, in the order in which the events were committed. `none`
   * sends several at once.
   * @default "none"
   */
  readonly ordering?: WebhookOrdering | undefined;
  /** A description for people, up to 500 characters. */
  readonly description?: string | undefined;
}

export const createWebhookSchema = z
  .strictObject({
    url,
    events,
    headers: headers.optional(),
    ordering: webhookOrderingSchema.optional().meta({ default: "none" }),
    description: text(500).optional(),
  })
  .meta({ id: "CreateWebhook" });

/** Changes to a webhook. An absent field keeps its value. */
export interface UpdateWebhook {
  /**
   * An https URL with a public host, at most 2,048 characters when it is percent-encoded. The
   * sandbox also accepts http.
   */
  readonly url?: string | undefined;
  /**
   * Event types, or patterns such as `*` and `message.*`. At most 50. Replaces the list, and
   * applies to new events.
   */
  readonly events?: readonly EventPattern[] | undefined;
  /** Replaces all headers. */
  readonly headers?: Record<string, string> | undefined;
  /**
   * `fifo` sends one delivery at a time, in the order in which the events were committed. `none`
   * sends several at once.
   */
  readonly ordering?: WebhookOrdering | undefined;
  /** A description for people, up to 500 characters. Null clears it. */
  readonly description?: string | null | undefined;
  /** Deliveries of a paused or disabled webhook are kept and sent when it is enabled. */
  readonly status?: "enabled" | "paused" | undefined;
}

export const updateWebhookSchema = z
  .strictObject({
    url: url.optional(),
    events: events.optional(),
    headers: headers.optional(),
    ordering: webhookOrderingSchema.optional(),
    description: text(500).nullable().optional(),
    status: webhookStatusSchema.exclude(["disabled"]).optional(),
  })
  .meta({ id: "UpdateWebhook" });

/** The rotation of a webhook's secret. */
export interface RotateWebhookSecret {
  /**
   * For how many seconds the old secret still signs: at most 604,800, which is 7 days. 0 ends it at
   * once.
   * @default 86400
   */
  readonly grace_seconds?: number | undefined;
}

export const rotateWebhookSecretSchema = z
  .strictObject({
    grace_seconds: z.int().min(0).max(604_800).optional().meta({ default: defaultGraceSeconds }),
  })
  .meta({ id: "RotateWebhookSecret" });

/** A sample event for a webhook. */
export interface TestWebhook {
  /**
   * The type of the sample event. By default the first type that matches the webhook's `events`.
   */
  readonly type?: EventType | undefined;
}

export const testWebhookSchema = z
  .strictObject({ type: eventTypeSchema.optional() })
  .meta({ id: "TestWebhook" });

/** A recovery of a webhook's failed deliveries. */
export interface RecoverWebhook {
  /** Only deliveries created at or after this time are sent again. */
  readonly since: string;
}

export const recoverWebhookSchema = z
  .strictObject({ since: instant })
  .meta({ id: "RecoverWebhook" });
