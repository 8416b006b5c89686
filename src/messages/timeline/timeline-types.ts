/** The timeline of a message, as the API shows it. */
import * as z from "zod";
import {
  ids,
  messageStatusSchema,
  timestamp,
  type AttemptId,
  type MessageStatus,
} from "../../kernel/index.ts";
import { messageErrorSchema, type MessageError } from "../types.ts";

/** The status that a carrier's receipt reports. */
export type ReceiptStatus = "sent" | "delivered" | "undelivered" | "read";

export const receiptStatusSchema = z.enum(["sent", "delivered", "undelivered", "read"]);

/**
 * Why a receipt changed nothing. `duplicate`: the same receipt came before. `already_known`: the
 * status was known before. `outranked`: a higher status is known. `superseded`: the status of the
 * message is based on another attempt.
 */
export type IgnoredReason = "duplicate" | "already_known" | "outranked" | "superseded";

export const ignoredReasonSchema = z
  .enum(["duplicate", "already_known", "outranked", "superseded"])
  .meta({ interface: "IgnoredReason" });

/** The status of the message changed. */
export interface TimelineTransition {
  /** The kind of entry. */
  readonly type: "transition";
  /** When the status changed. */
  readonly at: string;
  /** The status before. Null for the first status of the message. */
  readonly from: MessageStatus | null;
  /** The new status. */
  readonly to: MessageStatus;
  /** The error that came with the new status. Null if there is none. */
  readonly error: MessageError | null;
}

export const timelineTransitionSchema = z
  .strictObject({
    type: z.literal("transition"),
    at: timestamp,
    from: messageStatusSchema.nullable(),
    to: messageStatusSchema,
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelineTransition" });

/** The engine called the carrier. */
export interface TimelineAttempt {
  /** The kind of entry. */
  readonly type: "attempt";
  /** When the attempt began. */
  readonly at: string;
  /** The id of the attempt. */
  readonly id: AttemptId;
  /** 1 for the first attempt of the message. */
  readonly number: number;
  /** The transport that was called. */
  readonly transport: string;
  /**
   * The present outcome. `pending`: the carrier has not answered yet. `accepted`: the carrier has
   * the message. `rejected`: the message was certainly not sent. `ambiguous`: the message may have
   * been sent.
   */
  readonly outcome: "pending" | "accepted" | "rejected" | "ambiguous";
  /** The carrier's id of the message. Null while it is not known. */
  readonly provider_message_id: string | null;
  /**
   * Why the attempt did not succeed: what the carrier answered, or reported with a receipt
   * `undelivered`, even if another receipt says that the message arrived. Null if there is no
   * error.
   */
  readonly error: MessageError | null;
  /** When the carrier answered, or when its answer counted as lost. Null before that. */
  readonly answered_at: string | null;
  /** When the next attempt is due. Null if the attempt led to no other. */
  readonly next_attempt_at: string | null;
}

export const timelineAttemptSchema = z
  .strictObject({
    type: z.literal("attempt"),
    at: timestamp,
    id: ids.attempt,
    number: z.int().min(1),
    transport: z.string(),
    outcome: z.enum(["pending", "accepted", "rejected", "ambiguous"]),
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    answered_at: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: "TimelineAttempt" });

/** The carrier reported a status. */
export interface TimelineReceipt {
  /** The kind of entry. */
  readonly type: "receipt";
  /** When the engine recorded the receipt. */
  readonly at: string;
  /** When the status was reached, by the carrier's clock. */
  readonly carrier_at: string;
  /** The status that the carrier reported. */
  readonly status: ReceiptStatus;
  /** The carrier's id of the message. Null if it is not known. */
  readonly provider_message_id: string | null;
  /** Why the message was not delivered. Null unless the status is `undelivered`. */
  readonly error: MessageError | null;
  /** True if the receipt changed the message's status or one of its times. */
  readonly applied: boolean;
  /** Why the receipt changed nothing. Null if it was applied. */
  readonly ignored_reason: IgnoredReason | null;
}

export const timelineReceiptSchema = z
  .strictObject({
    type: z.literal("receipt"),
    at: timestamp,
    carrier_at: timestamp,
    status: receiptStatusSchema,
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    applied: z.boolean(),
    ignored_reason: ignoredReasonSchema.nullable(),
  })
  .meta({ id: "TimelineReceipt" });

/** The engine asked the carrier about an attempt whose response or receipt was missing. */
export interface TimelineLookup {
  /** The kind of entry. */
  readonly type: "lookup";
  /** When the engine recorded the result. */
  readonly at: string;
  /** The attempt that the engine asked about. */
  readonly attempt_id: AttemptId;
  /**
   * `sent`: the carrier has the message. `not_sent`: it certainly never received it. `unknown`: it
   * could not tell.
   */
  readonly outcome: "sent" | "not_sent" | "unknown";
}

export const timelineLookupSchema = z
  .strictObject({
    type: z.literal("lookup"),
    at: timestamp,
    attempt_id: ids.attempt,
    outcome: z.enum(["sent", "not_sent", "unknown"]),
  })
  .meta({ id: "TimelineLookup" });

/** The scheduled message was edited. */
export interface TimelineEdit {
  /** The kind of entry. */
  readonly type: "edit";
  /** When the message was edited. */
  readonly at: string;
  /** The names of the fields that the edit set. */
  readonly fields: string[];
}

export const timelineEditSchema = z
  .strictObject({
    type: z.literal("edit"),
    at: timestamp,
    fields: z.array(z.string()),
  })
  .meta({ id: "TimelineEdit" });

/** A policy denied or deferred the message at its hand-over. */
export interface TimelinePolicy {
  /** The kind of entry. */
  readonly type: "policy";
  /** When the policy decided. */
  readonly at: string;
  /**
   * `consent`, `quiet_hours`, `recipient`, or the name of a policy of the host application.
   * `recipient`: the contact no longer has the number.
   */
  readonly policy: string;
  /** `deny`: the message failed. `defer`: the message waits until `until`. */
  readonly verdict: "deny" | "defer";
  /** The reason, for people. */
  readonly reason: string;
  /** For a deferral, the earliest time of the hand-over. Otherwise null. */
  readonly until: string | null;
  /** For a denial, the error of the message. Otherwise null. */
  readonly error: MessageError | null;
}

export const timelinePolicySchema = z
  .strictObject({
    type: z.literal("policy"),
    at: timestamp,
    policy: z.string(),
    verdict: z.enum(["deny", "defer"]),
    reason: z.string(),
    until: timestamp.nullable(),
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelinePolicy" });

/** The content of the message was removed. */
export interface TimelineRedaction {
  /** The kind of entry. */
  readonly type: "redaction";
  /** When the content was removed. */
  readonly at: string;
}

export const timelineRedactionSchema = z
  .strictObject({ type: z.literal("redaction"), at: timestamp })
  .meta({ id: "TimelineRedaction" });

/** One thing that happened to a message, even if it changed nothing. */
export type TimelineEntry =
  | TimelineTransition
  | TimelineAttempt
  | TimelineReceipt
  | TimelineLookup
  | TimelineEdit
  | TimelinePolicy
  | TimelineRedaction;

export const timelineEntrySchema = z
  .discriminatedUnion("type", [
    timelineTransitionSchema,
    timelineAttemptSchema,
    timelineReceiptSchema,
    timelineLookupSchema,
    timelineEditSchema,
    timelinePolicySchema,
    timelineRedactionSchema,
  ])
  .meta({ id: "TimelineEntry" });

/** Everything that happened to a message. */
export interface Timeline {
  /** Oldest first: the latest 1,000 attempts and the latest 1,000 other entries. */
  readonly data: TimelineEntry[];
}

export const timelineSchema = z
  .strictObject({
    data: z.array(timelineEntrySchema),
  })
  .meta({ id: "Timeline" });
