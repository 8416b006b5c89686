/** A message's timeline, told in a few words. */
import type { MessageError, MessageStatus, TimelineEntry } from "tidings";

/** `idle` is neither good nor bad; `void` is evidence that changed nothing. */
export type Tone = "good" | "idle" | "bad" | "unsure" | "void";

export interface Word {
  readonly at: string;
  readonly text: string;
  readonly tone: Tone;
}

/** What a look-up at the carrier found out about a lost answer. */
const findings = { sent: "✓ was sent", not_sent: "✗ not sent", unknown: "? unknown" } as const;

/** Beginnings are left out, so what remains is only ever added to. */
export function storyOf(timeline: readonly TimelineEntry[]): Word[] {
  return timeline.flatMap((entry): Word[] => {
    const { at } = entry;
    if (entry.type === "transition") return changed(at, entry.from, entry.to, entry.error);
    if (entry.type === "lookup") return [{ at, text: findings[entry.outcome], tone: "unsure" }];
    // `already_known` is what the carrier's answer had proved already: every message has one.
    if (entry.type === "receipt" && !entry.applied && entry.ignored_reason !== "already_known") {
      return [{ at, text: `(${entry.status})`, tone: "void" }];
    }
    return [];
  });
}

function changed(
  at: string,
  from: MessageStatus | null,
  to: MessageStatus,
  error: MessageError | null,
): Word[] {
  const reason = (error?.code ?? "").replaceAll("_", " ");
  switch (to) {
    case "queued":
      return from === "sending" ? [{ at, text: `✗ ${reason}`, tone: "bad" }] : [];
    case "sending":
      return [];
    case "ambiguous":
      return [{ at, text: "? no answer", tone: "unsure" }];
    case "delivered":
    case "read":
      return [{ at, text: to, tone: "good" }];
    case "failed":
    case "undelivered":
    case "expired":
      return [{ at, text: `${to}: ${reason}`, tone: "bad" }];
    default:
      return [{ at, text: to, tone: "idle" }];
  }
}
