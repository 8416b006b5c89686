/** What may become of a conversation. Pure: a state and what is asked for give the next state, or say why not. */
import type { FieldError } from "../kernel/index.ts";
import type { Assignee, ConversationStatus, Handler } from "./types.ts";

/** A year, in milliseconds: how far ahead a conversation may be snoozed. */
export const maxSnooze = 366 * 86_400_000;

export type Status =
  | { readonly status: "open" }
  | { readonly status: "snoozed"; readonly snoozed_until: number }
  | { readonly status: "closed"; readonly closed_at: number };

/** What decisions about a conversation's status rest on. */
export interface Standing {
  readonly status: ConversationStatus;
  readonly snoozed_until: number | null;
  readonly closed_at: number | null;
  /** Whether it is the contact's last one on its medium: the others stay closed. */
  readonly current: true | null;
}

/** How a status is kept: what belongs to another one is gone. */
export interface StatusPatch {
  readonly status: ConversationStatus;
  readonly snoozed_until: number | null;
  readonly closed_at: number | null;
}

export type StatusChange =
  | { readonly decision: "change"; readonly patch: StatusPatch }
  /** A newer conversation has taken its place. */
  | { readonly decision: "superseded" }
  | { readonly decision: "invalid"; readonly error: FieldError };

/** `asked` is the status that a person asks for, with the end of the snooze in milliseconds. */
export function changeStatus(
  before: Standing,
  asked: { readonly status: ConversationStatus; readonly snoozed_until?: number },
  now: number,
): StatusChange {
  if (asked.status === "closed") {
    return {
      decision: "change",
      patch: kept({ status: "closed", closed_at: before.closed_at ?? now }),
    };
  }
  if (before.status === "closed" && before.current === null) return { decision: "superseded" };
  if (asked.status === "open") return { decision: "change", patch: kept({ status: "open" }) };
  const { snoozed_until = now } = asked;
  const message = snoozed_until <= now ? "must be in the future" : "must be at most 366 days ahead";
  if (snoozed_until <= now || snoozed_until > now + maxSnooze) {
    return {
      decision: "invalid",
      error: { pointer: "/snoozed_until", code: "out_of_range", message },
    };
  }
  return { decision: "change", patch: kept({ status: "snoozed", snoozed_until }) };
}

export function kept(state: Status): StatusPatch {
  return {
    status: state.status,
    snoozed_until: state.status === "snoozed" ? state.snoozed_until : null,
    closed_at: state.status === "closed" ? state.closed_at : null,
  };
}

/**
 * What an inbound does to the conversation that it finds: it goes into an active one and wakes it; a closed one is opened again with its
 * handler within the reopen window; after that a new one begins.
 */
export function receive(
  { status, closed_at }: Standing,
  reopenMs: number,
  now: number,
): "goes on" | "wakes" | "begins" {
  if (status === "closed") return now - (closed_at ?? 0) < reopenMs ? "wakes" : "begins";
  return status === "open" ? "goes on" : "wakes";
}

/** Who answers once it is assigned. What waited for a person goes on waiting when nobody is assigned any more. */
export function handlerOnAssign(before: Handler, assignee: Assignee | null): Handler {
  if (assignee !== null) return assignee.type === "human" ? "human" : "ai";
  return before === "human" || before === "queue" ? "queue" : "none";
}

/** Who answers when people hand it back: its agent, where it has one. What is not with people stays as it is. */
export function handlerOnHandBack(before: Handler, assignee: Assignee | null): Handler {
  if (before !== "human" && before !== "queue") return before;
  return assignee?.type === "agent" ? "ai" : "none";
}
