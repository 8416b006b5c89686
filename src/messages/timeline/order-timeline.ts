/** Puts the records of a message in the order of its timeline. */
import { iso, isoOrNull, ulidOf, type MessageStatus } from "../../kernel/index.ts";
import type { AttemptRow } from "../rows.ts";
import type { MessageError } from "../types.ts";
import type { TimelineEntry } from "./timeline-types.ts";

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
  records: readonly TimelineRecord[],
): TimelineEntry[] {
  let status: MessageStatus | null = null;
  const entries: TimelineEntry[] = [];
  for (const { at, led_to, error, entry } of [created, ...records.toSorted(inOrder)]) {
    if (entry !== null) entries.push(entry);
    if (led_to === null) continue;
    entries.push({ type: "transition", at: iso(at), from: status, to: led_to, error });
    status = led_to;
  }
  return entries;
}

/**
 * Returns the first status of a message, derived from its first change of status: only a queued
 * message can become `sending` or be deferred to `scheduled`.
 */
export function firstStatus(
  records: readonly TimelineRecord[],
  isScheduled: boolean,
): "queued" | "scheduled" {
  const first = records.toSorted(inOrder).find(({ led_to }) => led_to !== null)?.led_to;
  if (first === "sending" || first === "scheduled") return "queued";
  return isScheduled ? "scheduled" : "queued";
}

function inOrder(a: TimelineRecord, b: TimelineRecord): number {
  return a.version - b.version || (a.ulid < b.ulid ? -1 : 1);
}

/** Returns two entries for an attempt: its start and its answer. */
export function attemptRecords(attempt: AttemptRow): TimelineRecord[] {
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
    error,
    led_to,
  } = attempt;
  const entry: TimelineEntry = {
    type: "attempt",
    at: iso(started_at),
    id,
    number,
    transport,
    outcome: outcome === "undelivered" ? "accepted" : outcome,
    provider_message_id,
    error,
    answered_at: isoOrNull(answered_at),
    // The retry may be planned still. It goes on if the carrier gives the attempt up.
    next_attempt_at: outcome === "accepted" ? null : isoOrNull(attempt.next_attempt_at),
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
  // An accepted attempt has an error if the carrier reported later that it did not deliver.
  const wasAccepted = led_to === "sent" || led_to === "delivered";
  return [
    began,
    {
      version: answer_version,
      ulid: ulidOf(answer_id),
      at: answered_at,
      led_to,
      error: wasAccepted ? null : error,
      entry: null,
    },
  ];
}
