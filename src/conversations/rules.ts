/**
 * The transitions of a conversation. Pure functions take a state and a request, and return the next
 * state or the reason for a refusal.
 */
import { dayMs, type FieldError } from "../kernel/index.ts";
import type { Assignee, ConversationStatus, Handler } from "./types.ts";

/** How far ahead a conversation may be snoozed, in milliseconds. */
export const maxSnoozeMs = 366 * dayMs;

type Status =
  | { readonly status: "open" }
  | { readonly status: "snoozed"; readonly snoozed_until: number }
  | { readonly status: "closed"; readonly closed_at: number };

/** The columns of a status. The columns of other statuses are null. */
interface StatusColumns {
  readonly status: ConversationStatus;
  readonly snoozed_until: number | null;
  readonly closed_at: number | null;
}

/** The state that decides which status changes are allowed. */
export interface Standing extends StatusColumns {
  /** Whether this is the contact's latest conversation on its medium. Earlier ones stay closed. */
  readonly current: true | null;
}

type StatusChange =
  | { readonly decision: "change"; readonly patch: StatusColumns }
  /** A newer conversation has replaced this one. */
  | { readonly decision: "superseded" }
  | { readonly decision: "invalid"; readonly error: FieldError };

/** A requested status. The end of a snooze is in milliseconds since the epoch. */
export type StatusRequest =
  | { readonly status: "open" }
  | { readonly status: "closed" }
  | { readonly status: "snoozed"; readonly snoozed_until: number };

export function changeStatus(before: Standing, asked: StatusRequest, now: number): StatusChange {
  if (asked.status === "closed") {
    return changeTo({ status: "closed", closed_at: before.closed_at ?? now });
  }
  if (before.status === "closed" && before.current === null) return { decision: "superseded" };
  if (asked.status === "open") return changeTo({ status: "open" });
  const { snoozed_until } = asked;
  const message = snoozed_until <= now ? "must be in the future" : "must be at most 366 days ahead";
  if (snoozed_until <= now || snoozed_until > now + maxSnoozeMs) {
    const error = { pointer: "/snoozed_until", code: "out_of_range", message };
    return { decision: "invalid", error };
  }
  return changeTo({ status: "snoozed", snoozed_until });
}

const changeTo = (state: Status): StatusChange => ({
  decision: "change",
  patch: statusPatch(state),
});

export function statusPatch(state: Status): StatusColumns {
  return {
    status: state.status,
    snoozed_until: state.status === "snoozed" ? state.snoozed_until : null,
    closed_at: state.status === "closed" ? state.closed_at : null,
  };
}

/**
 * Decides what an inbound message does to the contact's conversation. An active one takes the
 * message and wakes up. A closed one reopens with its handler within the reopen window. After that
 * a new one begins.
 */
export function effectOfInbound(
  { status, closed_at }: Standing,
  reopenMs: number,
  now: number,
): "continue" | "wake" | "begin" {
  if (status === "closed") return now - (closed_at ?? 0) < reopenMs ? "wake" : "begin";
  return status === "open" ? "continue" : "wake";
}

/**
 * Why a contact waits for a person: an agent handed the conversation off, or nobody has replied.
 * The list of waiting conversations sorts by these names.
 */
export type Wait = "handoff" | "reply";

/** What a message does to the contact's wait: it asks for a reply, it is the reply, or neither. */
export type MessageRole = "asks" | "answers" | "neither";

/** The state that decides whether a conversation needs a person. */
export interface Attention {
  readonly status: ConversationStatus;
  readonly handler: Handler;
  readonly assignee_type: Assignee["type"] | null;
  readonly contact_wrote: boolean;
}

/** The columns that are derived from others. */
interface AttentionColumns {
  readonly unassigned: true | null;
  readonly waiting_for: Wait | null;
  readonly waiting_since: number | null;
}

/**
 * Returns the derived columns after a change. `waitingSince` is the column's value before it. A
 * caller that takes the conversation from an agent passes `waiting_since` itself: the contact waits
 * since its first message that the agent has not answered.
 *
 * A conversation is unassigned if it is assigned to no person and handled by no agent. One in which
 * the contact has never written counts only if people handled it before: many such conversations
 * are notices that nobody answers. A wait begins with a hand-off, or with the contact's first
 * message that nobody has answered. A person who takes a hand-off has not answered yet, so the wait
 * continues.
 */
export function attentionOf(
  { status, handler, assignee_type, contact_wrote }: Attention,
  waitingSince: number | null,
  role: MessageRole,
  now: number,
): AttentionColumns {
  if (status === "closed" || handler === "ai") {
    return { unassigned: null, waiting_for: null, waiting_since: null };
  }
  const needsPerson = contact_wrote || handler !== "none";
  const unassigned = needsPerson && assignee_type !== "human" ? true : null;
  const isQueued = handler === "queue";
  const begins = isQueued || role === "asks";
  const ends = role === "answers" && !isQueued;
  const waiting_since = ends ? null : (waitingSince ?? (begins ? now : null));
  if (waiting_since === null) return { unassigned, waiting_for: null, waiting_since };
  return { unassigned, waiting_for: isQueued ? "handoff" : "reply", waiting_since };
}

/** The columns that say until when people have read. */
interface Reading {
  readonly read_at: number | null;
  readonly last_activity_at: number;
}

/** Returns `read_at` when somebody reads now. Another engine's clock may be ahead of this one. */
export function readAtNow({ last_activity_at }: Reading, now: number): number {
  return Math.max(last_activity_at, now);
}

/**
 * Returns `read_at` after a message of the contact. The message is new, whatever the clocks say.
 */
export function readAtAfterMessage({ read_at }: Reading, now: number): number | null {
  return read_at === null ? null : Math.min(read_at, now - 1);
}

/**
 * Returns the handler after an assignment. A conversation that waits for a person keeps waiting
 * when the assignee is removed.
 */
export function handlerOnAssign(before: Handler, assignee: Assignee | null): Handler {
  if (assignee !== null) return assignee.type === "human" ? "human" : "ai";
  return before === "human" || before === "queue" ? "queue" : "none";
}

/**
 * Returns the handler after people hand the conversation back: its agent, if it has one. A
 * conversation that is not with people stays unchanged.
 */
export function handlerOnHandBack(before: Handler, assignee: Assignee | null): Handler {
  if (before !== "human" && before !== "queue") return before;
  return assignee?.type === "agent" ? "ai" : "none";
}
