import { iso, isoOrNull, ulidOf } from "../kernel/index.ts";
import type { MessageError, MessageStatus } from "./types.ts";
import type { TimelineEntry } from "./timeline-types.ts";

/** One thing that happened to a message: what there is to tell of it, and the status that it led to. */
export interface Happening {
  /** The message's version after it. Of those that share a commit, the ULIDs tell the order. */
  readonly version: number;
  /** What it was written under. */
  readonly ulid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly led_to: MessageStatus | null;
  readonly error: MessageError | null;
  readonly entry: TimelineEntry | null;
}

/** A timeline, oldest first: each happening, followed by the change of status that it brought. */
export function timelineOf(created: Happening, happenings: readonly Happening[]): TimelineEntry[] {
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

/** The status that a message was made with, as far as what came first tells: what was not queued can't be sent or put off. */
export function firstStatus(
  happenings: readonly Happening[],
  isScheduled: boolean,
): "queued" | "scheduled" {
  const first = happenings.toSorted(inOrder).find(({ led_to }) => led_to !== null)?.led_to;
  if (first === "sending" || first === "scheduled") return "queued";
  return isScheduled ? "scheduled" : "queued";
}

function inOrder(a: Happening, b: Happening): number {
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

/** An attempt happens twice: it begins, and it is answered. */
export function happeningsOf(attempt: AttemptFacts): Happening[] {
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
  const began: Happening = {
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
