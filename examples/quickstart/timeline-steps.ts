/** Shortens a message's timeline to a few words for the terminal. */
import type { MessageError, MessageStatus, TimelineEntry } from "tidings";

/** Chooses the color. `ignored` is for a receipt that did not change the status. */
export type Tone = "good" | "neutral" | "bad" | "uncertain" | "ignored";

export interface Step {
  /** ISO time. */
  readonly at: string;
  readonly text: string;
  readonly tone: Tone;
}

const lookupTexts = { sent: "✓ was sent", not_sent: "✗ not sent", unknown: "? unknown" } as const;

/** Returns the steps to show. Later calls for the same message only append to them. */
export function stepsOf(timeline: readonly TimelineEntry[]): Step[] {
  return timeline.flatMap((entry): Step[] => {
    const { at } = entry;
    if (entry.type === "transition") return transitionStep(at, entry.from, entry.to, entry.error);
    if (entry.type === "lookup") {
      return [{ at, text: lookupTexts[entry.outcome], tone: "uncertain" }];
    }
    // Every message has an `already_known` receipt: the carrier's response had already said "sent".
    if (entry.type === "receipt" && !entry.applied && entry.ignored_reason !== "already_known") {
      return [{ at, text: `(${entry.status})`, tone: "ignored" }];
    }
    return [];
  });
}

function transitionStep(
  at: string,
  from: MessageStatus | null,
  to: MessageStatus,
  error: MessageError | null,
): Step[] {
  const reason = (error?.code ?? "").replaceAll("_", " ");
  switch (to) {
    case "queued":
      return from === "sending" ? [{ at, text: `✗ ${reason}`, tone: "bad" }] : [];
    case "sending":
      return [];
    case "ambiguous":
      return [{ at, text: "? ambiguous", tone: "uncertain" }];
    case "delivered":
    case "read":
      return [{ at, text: to, tone: "good" }];
    case "failed":
    case "undelivered":
    case "expired":
      return [{ at, text: `${to}: ${reason}`, tone: "bad" }];
    default:
      return [{ at, text: to, tone: "neutral" }];
  }
}
