import { z } from "zod";
import { ids, timestamp, iso, isoOrNull, ulidOf } from "../kernel/index.ts";
import {
  messageErrorSchema,
  messageStatusSchema,
  type MessageError,
  type MessageStatus,
} from "./types.ts";

export const receiptStatusSchema = z.enum(["sent", "delivered", "undelivered", "read"]);

/**
 * Why a receipt changed nothing. `duplicate`: the same receipt came before. `already_known`: an
 * earlier receipt gave the status. `outranked`: a higher status is known. `superseded`: a later
 * attempt replaced this one.
 */
export const ignoredReasonSchema = z.enum([
  "duplicate",
  "already_known",
  "outranked",
  "superseded",
]);
export type IgnoredReason = z.infer<typeof ignoredReasonSchema>;

const transition = z
  .strictObject({
    type: z.literal("transition"),
    at: timestamp,
    from: messageStatusSchema.nullable(),
    to: messageStatusSchema,
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelineTransition" });
const attempt = z
  .strictObject({
    type: z.literal("attempt"),
    at: timestamp,
    id: ids.attempt,
    number: z.int().min(1),
    transport: z.string(),
    outcome: z
      .enum(["pending", "accepted", "rejected", "ambiguous"])
      .describe("`pending`: the carrier has not answered yet."),
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    answered_at: timestamp.nullable(),
    next_attempt_at: timestamp.nullable(),
  })
  .meta({ id: "TimelineAttempt" });
const receipt = z
  .strictObject({
    type: z.literal("receipt"),
    at: timestamp.describe("When the receipt arrived."),
    carrier_at: timestamp.describe("The carrier's time."),
    status: receiptStatusSchema,
    provider_message_id: z.string().nullable(),
    error: messageErrorSchema.nullable(),
    applied: z.boolean(),
    ignored_reason: ignoredReasonSchema.nullable(),
  })
  .meta({ id: "TimelineReceipt" });
const lookup = z
  .strictObject({
    type: z.literal("lookup"),
    at: timestamp,
    attempt_id: ids.attempt,
    outcome: z.enum(["sent", "not_sent", "unknown"]),
  })
  .meta({ id: "TimelineLookup" });
const edit = z
  .strictObject({ type: z.literal("edit"), at: timestamp, fields: z.array(z.string()) })
  .meta({ id: "TimelineEdit" });
const policy = z
  .strictObject({
    type: z.literal("policy"),
    at: timestamp,
    policy: z
      .string()
      .describe("`consent`, `quiet_hours`, or the name of a policy of the host application."),
    verdict: z.enum(["deny", "defer"]),
    reason: z.string(),
    until: timestamp.nullable().describe("For a deferral, the earliest time of the hand-over."),
    error: messageErrorSchema.nullable(),
  })
  .meta({ id: "TimelinePolicy", description: "A policy denied or deferred the message." });
const redaction = z
  .strictObject({ type: z.literal("redaction"), at: timestamp })
  .meta({ id: "TimelineRedaction" });

export const timelineEntrySchema = z
  .discriminatedUnion("type", [transition, attempt, receipt, lookup, edit, policy, redaction])
  .meta({
    id: "TimelineEntry",
    description: "One event in the life of a message, even if it changed nothing.",
  });
export type TimelineEntry = z.infer<typeof timelineEntrySchema>;

export const timelineSchema = z
  .strictObject({ data: z.array(timelineEntrySchema) })
  .meta({ id: "Timeline", description: "Oldest first." });
export interface Timeline extends z.infer<typeof timelineSchema> {}

/** A timeline entry before ordering, and the status that it led to. */
export interface TimelineRecord {
  /** The message's version after it. ULIDs order entries of the same version. */
  readonly version: number;
  /** The ULID of the entry's id. */
  readonly ulid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly led_to: MessageStatus | null;
  readonly error: MessageError | null;
  readonly entry: TimelineEntry | null;
}

/** Returns the timeline, oldest first. Each entry precedes the change of status that it caused. */
export function timelineOf(
  created: TimelineRecord,
  happenings: readonly TimelineRecord[],
): TimelineEntry[] {
  let status: MessageStatus | null = null;
  const told: TimelineEntry[] = [];
  for (const { at, led_to, error, entry } of [created, ...happenings.toSorted(inOrder)]) {
    if (entry !== null) told.push(entry);
    if (led_to === null) continue;
    told.push({ type: "transition", at: iso(at), from: status, to: led_to, error });
    status = led_to;
  }
  return told;
}

/**
 * Returns the first status of a message, derived from its first change of status: only a queued
 * message can become `sending` or be deferred to `scheduled`.
 */
export function firstStatus(
  happenings: readonly TimelineRecord[],
  isScheduled: boolean,
): "queued" | "scheduled" {
  const first = happenings.toSorted(inOrder).find(({ led_to }) => led_to !== null)?.led_to;
  if (first === "sending" || first === "scheduled") return "queued";
  return isScheduled ? "scheduled" : "queued";
}

function inOrder(a: TimelineRecord, b: TimelineRecord): number {
  return a.version - b.version || (a.ulid < b.ulid ? -1 : 1);
}

export interface AttemptFacts {
  readonly id: Extract<TimelineEntry, { type: "attempt" }>["id"];
  readonly number: number;
  readonly transport: string;
  readonly started_at: number;
  readonly outcome: Extract<TimelineEntry, { type: "attempt" }>["outcome"];
  readonly answered_at: number | null;
  readonly answer_id: string | null;
  readonly message_version: number;
  readonly answer_version: number | null;
  readonly provider_message_id: string | null;
  readonly error: MessageError | null;
  readonly next_attempt_at: number | null;
  readonly led_to: MessageStatus | null;
}

/** Returns two entries for an attempt: its start and its answer. */
export function attemptRecords(attempt: AttemptFacts): TimelineRecord[] {
  const {
    id,
    number,
    transport,
    started_at,
    outcome,
    answered_at,
    answer_id,
    answer_version,
    provider_message_id,
  } = attempt;
  const { error, led_to } = attempt;
  const entry: TimelineEntry = {
    type: "attempt",
    at: iso(started_at),
    id,
    number,
    transport,
    outcome,
    provider_message_id,
    error,
    answered_at: isoOrNull(answered_at),
    next_attempt_at: isoOrNull(attempt.next_attempt_at),
  };
  const ulid = ulidOf(id);
  const began: TimelineRecord = {
    version: attempt.message_version,
    ulid,
    at: started_at,
    led_to: "sending",
    error: null,
    entry,
  };
  if (answered_at === null || answer_id === null || answer_version === null) return [began];
  return [
    began,
    {
      version: answer_version,
      ulid: ulidOf(answer_id),
      at: answered_at,
      led_to,
      error,
      entry: null,
    },
  ];
}
