/** What an attempt makes of its delivery and of its webhook. */
import type { HttpOutcome } from "../ports/index.ts";
import { isGivenUp, withFailure } from "./failing.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import { isGone, isSuccess, nextAttempt, pauseOf } from "./schedule.ts";

/** An attempt that has ended. */
export interface EndedAttempt {
  /** The delivery's `manual_at` when this one began: by hand, unless null. */
  readonly asked_at: number | null;
  /** How many automatic attempts the delivery had when this one began. */
  readonly before: number;
  readonly started_at: number;
  readonly ended_at: number;
  readonly duration_ms: number;
  readonly outcome: HttpOutcome;
  /** Drawn, 0 to 1. */
  readonly jitter: number;
}

type Progress<R> = Readonly<Partial<R>>;

/**
 * What changes in a delivery. Success ends it however it came about. An automatic attempt that another one has overtaken, whose owner took
 * it for dead, or that came back after the delivery's end, counts for nothing but its success.
 */
export function afterAttempt(delivery: DeliveryRow, attempt: EndedAttempt): Progress<DeliveryRow> {
  const { asked_at, before, ended_at, duration_ms, outcome, jitter } = attempt;
  const { status, history, next_attempt_at, wait_ms, manual_at } = delivery;
  if (status === "canceled") return { manual_at: null };
  const manual = asked_at !== null;
  // What was asked for by hand since it began is asked for still.
  const asked = manual && manual_at === asked_at ? null : manual_at;
  const counts = !manual && next_attempt_at !== null && history.length === before;
  const tried = counts ? [...history, { waited_ms: wait_ms, duration_ms }] : history;
  if (isSuccess(outcome)) {
    return {
      status: "succeeded",
      history: tried,
      next_attempt_at: null,
      manual_at: manual ? asked : null,
    };
  }
  // A test is made by hand alone: nothing comes after it.
  const isOver = status === "pending" && next_attempt_at === null && asked === null;
  if (!counts) return isOver ? { status: "failed", manual_at: null } : { manual_at: asked };
  const next = nextAttempt(tried, outcome, ended_at, jitter);
  if (next.status !== "pending") {
    return { status: next.status, history: tried, next_attempt_at: null };
  }
  return { history: tried, wait_ms: next.wait_ms, next_attempt_at: next.next_attempt_at };
}

/** What changes in a webhook whose automatic attempt has ended; undefined: nothing. */
export function afterAutomatic(
  webhook: WebhookRow,
  { outcome, ended_at }: EndedAttempt,
): Progress<WebhookRow> | undefined {
  if (isSuccess(outcome)) {
    return webhook.proven && webhook.streak === null ? undefined : { proven: true, streak: null };
  }
  const streak = withFailure(webhook.streak, ended_at);
  const failing = { proven: false, streak };
  if (webhook.status !== "enabled") return failing;
  if (isGone(outcome)) return { ...failing, status: "disabled", disabled_reason: "gone" };
  if (isGivenUp(streak, ended_at)) {
    return { ...failing, status: "disabled", disabled_reason: "failing" };
  }
  const pause = pauseOf(outcome, ended_at);
  return pause === 0
    ? failing
    : { ...failing, paused_until: Math.max(webhook.paused_until ?? 0, ended_at + pause) };
}
