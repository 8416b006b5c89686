import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ambiguousInstead,
  answerLost,
  applyAnswer,
  applyLateRefusal,
  applyLostAnswer,
  applyNotSent,
  carrierError,
  evidenceOf,
  retryAt,
  takeBackAttempt,
  withValidTime,
  type Ending,
} from "../../src/messages/attempts/attempt-rules.ts";
import { maxAttempts, retryDelays } from "../../src/messages/routes/route-rules.ts";
import { expiredDecision, handOver, type MessageState } from "../../src/messages/rules.ts";
import type { MessageError } from "../../src/messages/types.ts";
import type { SendAnswer } from "../../src/ports/transport.ts";

const now = 1_000_000;
const hour = 3_600_000;
const sending: MessageState = { status: "sending", expires_at: now + 60_000, attempts: 2 };

describe("a message of which an earlier attempt may have been sent", () => {
  const { expires_at, attempts } = sending;
  const ambiguous = {
    decision: "ambiguous",
    state: { status: "ambiguous", expires_at, attempts, error: answerLost },
  };
  const failed: Ending = {
    decision: "failed",
    state: { status: "failed", error: { ...answerLost, code: "landline" } },
  };
  const underway: readonly MessageState[] = [
    sending,
    { status: "queued", due_at: now, expires_at, attempts },
    { status: "scheduled", send_at: now, expires_at, attempts },
    { status: "ambiguous", expires_at, attempts, error: answerLost },
  ];

  it("is ambiguous instead of failed or expired", () => {
    for (const state of underway) {
      expect(ambiguousInstead(failed, state, answerLost)).toEqual(ambiguous);
      expect(ambiguousInstead(expiredDecision, state, answerLost)).toEqual(ambiguous);
    }
  });

  it("stays as decided if it has ended before", () => {
    expect(ambiguousInstead(failed, { status: "canceled" }, answerLost)).toBe(failed);
  });
});

it("a carrier's error is shown without what no database stores, and cut if it is long", () => {
  const page = { code: "filtered", message: `\ud800\0${"x".repeat(5_000)}` } as const;
  expect(carrierError({ ...page, provider_code: "9".repeat(300) }, true)).toEqual({
    code: "filtered",
    message: `\ufffd${"x".repeat(997)}…`,
    permanent: true,
    stage: "carrier",
    provider_code: `${"9".repeat(199)}…`,
  });
});

describe("the result of an attempt", () => {
  const known: MessageError = { ...answerLost, code: "unreachable" };
  const expires_at = now + 60_000;
  const states: readonly MessageState[] = [1, 2].flatMap((attempts) => [
    { status: "scheduled", send_at: now, expires_at, attempts },
    { status: "queued", due_at: now, expires_at, attempts },
    { status: "sending", expires_at, attempts },
    { status: "ambiguous", expires_at, attempts, error: known },
  ]);
  const ended: readonly MessageState[] = [
    { status: "canceled" },
    expiredDecision.state,
    { status: "failed", error: known },
  ];
  const error = { code: "throttled", message: "" } as const;

  it("changes a message only if it is that of its last attempt and still open", () => {
    const answers: readonly SendAnswer[] = [
      { outcome: "rejected", error, permanent: false },
      { outcome: "rejected", error, permanent: true },
      { outcome: "ambiguous", error },
    ];
    const cases = [...states, ...ended].flatMap((from) =>
      [1, 2].flatMap((attempt) => answers.map((answer) => ({ from, attempt, answer }))),
    );
    for (const { from, attempt, answer } of cases) {
      const isLast = "attempts" in from && from.attempts === attempt;
      const isSending = isLast && from.status === "sending";
      const isLost = isLast && from.status === "ambiguous";
      expect(
        applyAnswer(from, { number: attempt, answer }, now).decision !== "none",
        "An answer counts for the attempt that is open, a lost one only if none was lost before.",
      ).toBe(isSending || (isLost && answer.outcome === "rejected"));
      expect(
        applyLostAnswer(from, attempt).decision,
        "An answer is lost only if the message still waits for it.",
      ).toBe(isSending ? "ambiguous" : "none");
      expect(
        applyNotSent(from, { number: attempt }, now).decision,
        "A look-up counts only for the attempt whose answer is lost.",
      ).toBe(isLost ? "retry" : "none");
    }
  });

  it("does not count if no carrier was called", () => {
    for (const from of [...states, ...ended]) {
      const isOpen = from.status === "sending" && from.attempts === 2;
      expect(takeBackAttempt(from, 2, now)).toEqual(
        isOpen
          ? {
              decision: "retry",
              state: { status: "queued", due_at: now, expires_at, attempts: 1 },
            }
          : { decision: "none" },
      );
    }
  });

  it("queues the message again, or ends it with the error of a later attempt or its own", () => {
    const from = { status: "ambiguous", expires_at, attempts: 1, error: known } as const;
    expect(applyNotSent(from, { number: 1 }, now)).toEqual({
      decision: "retry",
      state: { status: "queued", due_at: now, expires_at, attempts: 1 },
    });
    const last = { ...from, attempts: maxAttempts };
    const refusal: MessageError = { ...answerLost, code: "landline" };
    for (const [later, shown] of [
      [refusal, refusal],
      [null, known],
      [undefined, known],
    ] as const) {
      expect(applyNotSent(last, { number: maxAttempts, refusal: later }, now)).toEqual({
        decision: "failed",
        state: { status: "failed", error: shown },
      });
    }
  });
});

describe("after an attempt", () => {
  it("that sent nothing, it fails only without another attempt, and expires if that is too late", () => {
    /** Often at an edge: random times rarely meet. */
    const near = (any: fc.Arbitrary<number>) =>
      fc.oneof(fc.constantFrom(now - 1, now, now + 1), any);
    const expires_at = near(fc.integer({ min: now - hour, max: now + hour }));
    const attempts = fc.integer({ min: 1, max: maxAttempts });
    const last = fc.oneof(
      fc.record({ status: fc.constant("sending" as const), expires_at, attempts }),
      fc.record({
        status: fc.constant("ambiguous" as const),
        expires_at,
        attempts,
        error: fc.constant(answerLost),
      }),
    );
    const wait = fc.option(fc.nat(2 * hour), { nil: undefined });
    const next = fc.oneof(
      fc.constant(undefined),
      fc.constant("none" as const),
      fc.record({ transport: fc.constant("b"), at: near(fc.nat(2 * now)) }),
    );
    fc.assert(
      fc.property(last, wait, next, fc.boolean(), (from, retry_after_ms, to, isUnsent) => {
        const said = {
          outcome: "rejected",
          error: { code: "throttled", message: "" },
          permanent: false,
          ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
        } as const;
        const again = isUnsent
          ? from.attempts < maxAttempts
            ? now
            : null
          : retryAt(from.attempts, retry_after_ms, now);
        const due_at = to === undefined ? again : to === "none" ? null : to.at;
        const decided = isUnsent
          ? applyNotSent(from, { number: from.attempts, next: to }, now)
          : applyAnswer(from, { number: from.attempts, answer: said, next: to }, now);
        fc.pre(!isUnsent || from.status === "ambiguous");
        expect(
          decided.decision,
          "A message is tried again if an attempt is left within its time to live.",
        ).toBe(due_at === null ? "failed" : due_at < from.expires_at ? "retry" : "expired");
        if (decided.decision === "expired") {
          expect(decided.state.error).toMatchObject({ code: "ttl_elapsed", stage: "queue" });
        }
      }),
    );
  });

  it("fails with the carrier's reason if the carrier refuses it for good", () => {
    const error = { code: "landline", message: "" } as const;
    const answer = { outcome: "rejected", error, permanent: true } as const;
    expect(applyAnswer(sending, { number: 2, answer }, now)).toMatchObject({
      decision: "failed",
      state: { error: { code: "landline", permanent: true, stage: "carrier" } },
    });
  });

  it("waits 1 s, 5 s, 30 s, 2 m and 10 m, unless the carrier names its own time", () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => retryAt(attempt, undefined, now))).toEqual([
      ...retryDelays.map((delay) => now + delay),
      null,
    ]);
    expect(retryAt(1, 7_000, now)).toBe(now + 7_000);
    expect(retryAt(5, 0, now)).toBe(now);
    expect(retryAt(1, 0.1, now)).toBe(now + 1);
    for (const untold of [null, -5, Number.NaN, Infinity, -Infinity]) {
      expect(retryAt(1, untold, now)).toBe(now + 1_000);
    }
  });

  it("a lost answer blocks the message until a look-up or the host application says that it was not sent", () => {
    const unclear = { outcome: "ambiguous", error: { code: "unknown", message: "" } } as const;
    for (const decided of [
      applyAnswer(sending, { number: 2, answer: unclear }, now),
      applyLostAnswer(sending, 2),
    ]) {
      if (decided.decision !== "ambiguous") expect.fail(`the answer is lost: ${decided.decision}`);
      const held = decided.state;
      expect(handOver(held, now + hour).decision).toBe("none");
      expect(applyNotSent(held, { number: 1 }, now).decision).toBe("none");
      expect(applyNotSent(held, { number: 2 }, now)).toMatchObject({
        decision: "retry",
        state: { due_at: now, attempts: 2 },
      });
    }
  });

  it("counts as delivered if a transport without receipts accepted it", () => {
    const answer = { outcome: "accepted", provider_message_id: "p1" } as const;
    const answered = { number: 2, answer, accepted: "delivered" } as const;
    expect(applyAnswer(sending, answered, now)).toMatchObject({
      state: { delivered_at: now },
    });
  });
});

describe("a refusal that comes while the message waits for its next attempt", () => {
  const expires_at = now + 3_600_000;
  const queued = { status: "queued", due_at: now, expires_at, attempts: 2 } as const;
  const scheduled = {
    status: "scheduled",
    send_at: now + 90_000,
    expires_at,
    attempts: 2,
  } as const;
  const error = { code: "throttled", message: "" } as const;
  const forNow = { outcome: "rejected", error, permanent: false } as const;
  const forGood = { ...forNow, permanent: true } as const;
  /** When the next attempt is due, from now, or else the decision. */
  const timeOf = (state: MessageState, refusal: Parameters<typeof applyLateRefusal>[1]) => {
    const after = applyLateRefusal(state, refusal, now);
    if (after.decision !== "retry") return after.decision;
    expect(after.state).toMatchObject({ expires_at, attempts: 2 });
    return after.state.due_at - now;
  };

  it("sets the time of the next attempt over the same carrier", () => {
    const last = { answer: forNow, isLast: true };
    const asked = { answer: { ...forNow, retry_after_ms: 60_000 }, isLast: true };
    expect(timeOf(queued, last), "The delay after the second attempt.").toBe(5_000);
    expect(timeOf(queued, asked), "The carrier asks for longer.").toBe(60_000);
    expect(timeOf(scheduled, asked), "A deferral lasts longer.").toBe(90_000);
    expect(timeOf(queued, { ...asked, isLast: false }), "A later refusal set it.").toBe("none");
  });

  it("follows the route, or ends the message", () => {
    for (const isLast of [true, false]) {
      const next = { transport: "second", at: now + 7 };
      expect(timeOf(queued, { answer: forGood, isLast, next })).toBe(7);
      expect(timeOf(scheduled, { answer: forNow, isLast, next })).toBe(90_000);
      for (const none of [{}, { next: "none" as const }]) {
        expect(applyLateRefusal(queued, { answer: forGood, isLast, ...none }, now)).toMatchObject({
          decision: "failed",
          state: { error: { code: "throttled", permanent: true } },
        });
      }
      expect(timeOf(scheduled, { answer: forNow, isLast, next: "none" })).toBe("failed");
      const late = { transport: "second", at: expires_at };
      expect(timeOf(queued, { answer: forNow, isLast, next: late })).toBe("expired");
    }
  });

  it("changes no message in another state", () => {
    for (const state of [sending, expiredDecision.state]) {
      expect(timeOf(state, { answer: forGood, isLast: true })).toBe("none");
    }
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
  const on = { transport: "second", at: now + 5 };
  expect(applyAnswer(sending, { number: 2, answer: unclear, next: on }, now)).toMatchObject({
    decision: "retry",
    state: { due_at: now + 5 },
  });
  const stays = applyAnswer(sending, { number: 2, answer: unclear, next: "none" }, now);
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
