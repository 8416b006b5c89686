/** What happened to a message, placed on a time axis. */
import type {
  MessageStatus,
  TimelineAttempt,
  TimelineEntry,
  TimelineTransition,
} from "../../../../../src/index.ts";
import { withOutcomesAtTheTime, type Tone } from "../../../shared/browser/index.ts";

/** The rows of the diagram. */
export type Lane = "status" | "attempt" | "receipt" | "other";

/** One thing on the axis. */
export interface Mark {
  readonly lane: Lane;
  /** When it began, in ms since 1970. */
  readonly at: number;
  /** When it ended. Absent for a moment. */
  readonly end?: number;
  readonly tone: Tone;
  readonly entry: TimelineEntry | PlannedEntry;
  /** A receipt that changed nothing. */
  readonly isIgnored?: boolean;
}

/** Something that is still to come. */
export interface PlannedEntry {
  readonly type: "planned";
  readonly what: "retry" | "send";
  readonly at: string;
}

/** A message's timeline, placed on an axis. */
export interface Diagram {
  readonly marks: readonly Mark[];
  /** When it began and when the last known thing happens. */
  readonly start: number;
  readonly end: number;
  /** The place of a time on the axis: 0 at its start, 1 at its end. */
  readonly place: (at: number) => number;
  /** The times that get a label. */
  readonly ticks: readonly number[];
}

const tones: Partial<Record<MessageStatus, Tone>> = {
  sending: "accent",
  sent: "accent",
  delivered: "good",
  read: "good",
  received: "good",
  ambiguous: "warn",
  unconfirmed: "warn",
  undelivered: "bad",
  failed: "bad",
  expired: "bad",
};

export const statusTone = (status: MessageStatus): Tone => tones[status] ?? "neutral";

const ends = new Set<MessageStatus>([
  "canceled",
  "expired",
  "failed",
  "undelivered",
  "delivered",
  "read",
  "received",
  "unconfirmed",
]);

/** Whether nothing more is expected to happen to the message. */
export const hasEnded = (status: MessageStatus): boolean => ends.has(status);

interface DiagramInput {
  readonly entries: readonly TimelineEntry[];
  readonly status: MessageStatus;
  /** When a scheduled or deferred message is due. */
  readonly sendAt: string | null;
  readonly now: number;
}

/** Places a message's timeline, and what is still to come, on an axis. */
export function diagramOf({ entries: given, status, sendAt, now: clock }: DiagramInput): Diagram {
  const entries = withAttemptsAfterSending(withOutcomesAtTheTime(given));
  const isOver = hasEnded(status);
  const times = entries.map(({ at }) => Date.parse(at));
  // The clock of the browser may be behind the server's.
  const now = Math.max(...times, clock);
  const last = isOver ? Math.max(...times) : now;
  const marks: Mark[] = [];
  const transitions = entries.filter((entry) => entry.type === "transition");
  // In the order of the timeline, which has a cause before the status that it led to.
  for (const entry of entries) {
    const mark =
      entry.type === "transition" ? statusMark(entry, transitions, last) : markOf(entry, now);
    marks.push(mark);
  }
  const planned = isOver ? undefined : plannedOf(entries, status, sendAt, now);
  if (planned !== undefined) {
    const lane = planned.what === "retry" ? "attempt" : "other";
    marks.push({ lane, at: Date.parse(planned.at), tone: "neutral", entry: planned });
  }
  return { marks, ...axisOf(marks) };
}

/**
 * Moves each attempt behind the status `sending`. The timeline has the attempt before it, because
 * the attempt caused it. But the attempt is shown with its outcome, which came after that status.
 */
function withAttemptsAfterSending(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries.flatMap((entry, index) => {
    const [before, after] = [entries[index - 1], entries[index + 1]];
    if (entry.type === "attempt" && isSending(after)) return [];
    return before?.type === "attempt" && isSending(entry) ? [entry, before] : [entry];
  });
}

const isSending = (entry: TimelineEntry | undefined): boolean =>
  entry?.type === "transition" && entry.to === "sending";

/** The status until the next one, or until the end of the timeline. */
function statusMark(
  entry: TimelineTransition,
  transitions: readonly TimelineTransition[],
  last: number,
): Mark {
  const next = transitions[transitions.indexOf(entry) + 1];
  return {
    lane: "status",
    at: Date.parse(entry.at),
    end: next === undefined ? last : Date.parse(next.at),
    tone: statusTone(entry.to),
    entry,
  };
}

function markOf(entry: Exclude<TimelineEntry, TimelineTransition>, now: number): Mark {
  const at = Date.parse(entry.at);
  switch (entry.type) {
    case "attempt":
      return { lane: "attempt", at, end: endOf(entry, now), tone: outcomeTone(entry), entry };
    case "receipt":
      return {
        lane: "receipt",
        at,
        tone: entry.applied ? statusTone(entry.status) : "neutral",
        isIgnored: !entry.applied,
        entry,
      };
    case "policy":
      return { lane: "other", at, tone: entry.verdict === "deny" ? "bad" : "warn", entry };
    default:
      return { lane: "other", at, tone: "neutral", entry };
  }
}

const endOf = ({ answered_at }: TimelineAttempt, now: number): number =>
  answered_at === null ? now : Date.parse(answered_at);

const outcomeTone = ({ outcome }: TimelineAttempt): Tone =>
  (({ pending: "accent", accepted: "good", rejected: "bad", ambiguous: "warn" }) as const)[outcome];

function plannedOf(
  entries: readonly TimelineEntry[],
  status: MessageStatus,
  sendAt: string | null,
  now: number,
): PlannedEntry | undefined {
  const attempt = entries.findLast((entry) => entry.type === "attempt");
  const retry = attempt?.next_attempt_at ?? null;
  if (retry !== null && Date.parse(retry) > now) {
    return { type: "planned", what: "retry", at: retry };
  }
  const waits = status === "scheduled" || status === "queued";
  if (waits && sendAt !== null && Date.parse(sendAt) > now) {
    return { type: "planned", what: "send", at: sendAt };
  }
  return undefined;
}

/** A pause of this length counts twice as much as none. */
const unitMs = 40;
/** What the shortest pause between two different times counts. */
const least = 1;

/**
 * The axis. Deliveries take milliseconds and retries take minutes, so long pauses are shortened:
 * a pause counts by the logarithm of its length.
 */
function axisOf(marks: readonly Mark[]): Omit<Diagram, "marks"> {
  const times = [...new Set(marks.flatMap(({ at, end }) => [at, end ?? at]))].toSorted(
    (a, b) => a - b,
  );
  const start = times[0] ?? 0;
  const end = times.at(-1) ?? start;
  const places = new Map<number, number>();
  let sum = 0;
  times.forEach((time, index) => {
    const before = times[index - 1];
    if (before !== undefined) sum += least + Math.log2(1 + (time - before) / unitMs);
    places.set(time, sum);
  });
  const place = (at: number): number => (sum === 0 ? 0 : (places.get(at) ?? 0) / sum);
  return { start, end, place, ticks: ticksOf(times, place) };
}

const minTickDistance = 0.09;

/** The times whose labels have room, among them the first and the last. */
function ticksOf(times: readonly number[], place: (at: number) => number): number[] {
  const last = times.at(-1);
  const ticks: number[] = [];
  for (const time of times) {
    const before = ticks.at(-1);
    const hasRoom = before === undefined || place(time) - place(before) >= minTickDistance;
    const leavesRoom = time === last || 1 - place(time) >= minTickDistance;
    if (hasRoom && leavesRoom) ticks.push(time);
  }
  return ticks;
}
