/** The backlog of an account: its waiting messages, agents' turns and webhook deliveries. */
import * as z from "zod";
import { ids, timestamp, type WebhookId } from "../kernel/index.ts";
import { webhookStatusSchema, type WebhookStatus } from "../webhooks/index.ts";

/** A kind of work that waits in the background. */
export type WorkKind = "send" | "follow_up" | "score" | "turn";

const workKindSchema = z.enum(["send", "follow_up", "score", "turn"]);

/** The work of one kind that waits or runs. */
export interface WaitingWork {
  /**
   * `send`: conversations with messages to hand over. `follow_up`: messages whose outcome or
   * receipt is awaited. `score`: contacts whose messages get a sentiment score. `turn`:
   * conversations in which an agent answers.
   */
  readonly kind: WorkKind;
  /** The transport that the work needs. Null for `score` and `turn`. */
  readonly transport: string | null;
  /** How much could run now. At most some thousands are counted. */
  readonly due: number;
  /** How much waits for a later time, such as the next attempt, or for a sender's limit. */
  readonly later: number;
  /** How much runs now. */
  readonly running: number;
  /** Since when the longest waiting work is due. Null if none is due. */
  readonly oldest_due_at: string | null;
}

const waitingWorkSchema = z
  .strictObject({
    kind: workKindSchema,
    transport: z.string().nullable(),
    due: z.int().min(0),
    later: z.int().min(0),
    running: z.int().min(0),
    oldest_due_at: timestamp.nullable(),
  })
  .meta({ id: "WaitingWork" });

/** A webhook with deliveries that have not succeeded yet. */
export interface WebhookLag {
  /** The id of the webhook. */
  readonly webhook_id: WebhookId;
  /** The status of the webhook. It gets no deliveries unless it is `enabled`. */
  readonly status: WebhookStatus;
  /** When the oldest waiting delivery was created. */
  readonly oldest_created_at: string;
  /** When the oldest waiting delivery is attempted next. Null if no attempt is scheduled. */
  readonly next_attempt_at: string | null;
}

const webhookLagSchema = z
  .strictObject({
    webhook_id: ids.webhook,
    status: webhookStatusSchema,
    oldest_created_at: timestamp,
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: "WebhookLag" });

/** What waits in an account and mode. */
export interface Backlog {
  /** The work in the background. Kinds without any are left out. */
  readonly work: WaitingWork[];
  /** The webhooks with waiting deliveries. */
  readonly webhooks: WebhookLag[];
}

export const backlogSchema = z
  .strictObject({
    work: z.array(waitingWorkSchema),
    webhooks: z.array(webhookLagSchema),
  })
  .meta({ id: "Backlog" });
