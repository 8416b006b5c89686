import { describe, expect, it } from "vitest";
import {
  type AfterAttempt,
  ambiguousIfLost,
  answerLost,
  applyAnswer,
  applyLostAnswer,
  evidenceOf,
  withValidTime,
} from "../../src/messages/attempt-rules.ts";
import { expired, type MessageState } from "../../src/messages/rules.ts";

const now = 1_000_000;
const sending: MessageState = { status: "sending", expires_at: now + 60_000, attempts: 2 };

describe("a message of which an earlier attempt may have been sent", () => {
  const { expires_at, attempts } = sending;
  const ambiguous = {
    decision: "ambiguous",
    state: { status: "ambiguous", expires_at, attempts, error: answerLost },
  };
  const failed: AfterAttempt = {
    decision: "failed",
    state: { status: "failed", error: { ...answerLost, code: "landline" } },
  };
  const underway: readonly MessageState[] = [
    sending,
    { status: "queued", due_at: now, expires_at, attempts },
    { status: "ambiguous", expires_at, attempts, error: answerLost },
  ];

  it("is ambiguous instead of failed or expired", () => {
    for (const state of underway) {
      expect(ambiguousIfLost(failed, state, answerLost)).toEqual(ambiguous);
      expect(ambiguousIfLost(expired, state, answerLost)).toEqual(ambiguous);
    }
  });

  it("stays as decided if it goes on, has ended, or no attempt is lost", () => {
    const none: AfterAttempt = { decision: "none" };
    expect(ambiguousIfLost(none, sending, answerLost)).toBe(none);
    expect(ambiguousIfLost(failed, sending, undefined)).toBe(failed);
    expect(ambiguousIfLost(failed, { status: "canceled" }, answerLost)).toBe(failed);
  });
});

it("a lost answer is reported as one that may have been sent, unless the route goes on", () => {
  expect(applyLostAnswer(sending, 2)).toMatchObject({
    state: {
      error: {
        code: "answer_lost",
        message: "The carrier's answer was lost; the message may have been sent.",
        permanent: false,
        stage: "carrier",
        provider_code: null,
      },
    },
  });
  const unclear = { outcome: "ambiguous", error: { code: "unknown", message: "" } } as const;
  const on = { next: "on", transport: "second", at: now + 5 } as const;
  expect(applyAnswer(sending, 2, unclear, now, "sent", on)).toMatchObject({
    decision: "retry",
    state: { due_at: now + 5 },
  });
  const stays = applyAnswer(sending, 2, unclear, now, "sent", { next: "nowhere" });
  expect(stays).toMatchObject({ decision: "ambiguous", state: { error: { permanent: false } } });
});

it("a receipt without a reason names none, and one with a reason says whether it is final", () => {
  expect(evidenceOf({ status: "delivered", at: 1 })).toEqual({
    status: "delivered",
    at: 1,
    error: null,
  });
  expect(evidenceOf({ status: "undelivered", at: 1 }).error).toMatchObject({
    code: "unknown",
    message: "The carrier gave no reason.",
    permanent: false,
    stage: "carrier",
  });
  expect(
    evidenceOf({ status: "undelivered", at: 1, error: { code: "landline", message: "" } }).error,
  ).toMatchObject({ code: "landline", permanent: true });
  expect(
    evidenceOf({ status: "undelivered", at: 1, error: { code: "unreachable", message: "" } }).error,
  ).toMatchObject({ stage: "handset" });
});

it("a receipt's time is kept if a date can represent it, in whole milliseconds", () => {
  const end = Date.parse("9999-12-31T23:59:59.999Z");
  const times = [0, 1.4, end, -1, end + 1, Number.NaN, Infinity].map(
    (at) => withValidTime({ status: "sent", at }, now).at,
  );
  expect(times).toEqual([0, 1, end, now, now, now, now]);
});
