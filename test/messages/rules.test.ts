import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AfterAttempt,
  applyAnswer,
  carrierError,
  evidenceOf,
  applyLostAnswer,
  applyNotSent,
  retryAt,
} from "../../src/messages/attempts/attempt-rules.ts";
import {
  endEventOf,
  cancel,
  applyEvidence,
  edit,
  expire,
  handOver,
  isWithCarrier,
  type MessageState,
  plan,
  release,
  applyReceiptTimeout,
} from "../../src/messages/rules.ts";
import { maxAttempts, retryDelays } from "../../src/messages/routes/route-rules.ts";
import { maxScheduleAheadMs } from "../../src/kernel/limits.ts";
import { messageStatuses } from "../../src/kernel/message-status.ts";
import type { Receipt, SendAnswer } from "../../src/ports/transport.ts";

const now = 1_000_000;
const hour = 3_600_000;
const error = carrierError({ code: "throttled", message: "Slow down." }, false);
const throttled: SendAnswer = {
  outcome: "rejected",
  error: { code: "throttled", message: "" },
  permanent: false,
};
const landline: SendAnswer = {
  outcome: "rejected",
  error: { code: "landline", message: "" },
  permanent: true,
};
const accepted: SendAnswer = { outcome: "accepted", provider_message_id: "p1" };
const unclear: SendAnswer = { outcome: "ambiguous", error: { code: "unknown", message: "" } };

const attempts = fc.integer({ min: 1, max: maxAttempts });
/** Often at an edge: random times rarely meet. */
const near = (any: fc.Arbitrary<number>) => fc.oneof(fc.constantFrom(now - 1, now, now + 1), any);
const expires_at = near(fc.integer({ min: now - hour, max: now + hour }));
const anyTime = near(fc.nat(2 * now));
const waiting: fc.Arbitrary<MessageState> = fc.oneof(
  fc.record({
    status: fc.constant("scheduled" as const),
    send_at: anyTime,
    expires_at,
    attempts: fc.nat(5),
  }),
  fc.record({
    status: fc.constant("queued" as const),
    due_at: anyTime,
    expires_at,
    attempts: fc.nat(5),
  }),
);
const open: fc.Arbitrary<MessageState> = fc.oneof(
  fc.record({ status: fc.constant("sending" as const), expires_at, attempts }),
  fc.record({
    status: fc.constant("ambiguous" as const),
    expires_at,
    attempts,
    error: fc.constant(error),
  }),
);
const ended: fc.Arbitrary<MessageState> = fc.constantFrom<MessageState>(
  { status: "canceled" },
  { status: "expired", error },
  { status: "failed", error },
);
const receipt: fc.Arbitrary<Receipt> = fc.record({
  status: fc.constantFrom("sent", "delivered", "undelivered", "read"),
  at: fc.nat(2 * now),
});
const carrierState = receipt.map(
  (each) => applyEvidence({ status: "canceled" }, evidenceOf(each)).state,
);
const state = fc.oneof(waiting, open, ended, carrierState);
const answer = fc.constantFrom(throttled, landline, accepted, unclear);

const stateAfter = (from: MessageState, decided: { decision: string; state?: MessageState }) =>
  decided.state ?? from;

describe("before the hand-over", () => {
  it("a message is queued at once, or scheduled for a time of at most 35 days ahead", () => {
    expect(plan({}, now)).toMatchObject({
      state: { status: "queued", due_at: now, expires_at: now + 4 * hour },
    });
    expect(plan({ send_at: now - 1 }, now)).toMatchObject({ state: { status: "queued" } });
    expect(plan({ send_at: now + 1, ttl: 5 }, now)).toMatchObject({
      state: { status: "scheduled", send_at: now + 1, expires_at: now + 6 },
    });
    expect(plan({ send_at: now + maxScheduleAheadMs }, now)).toMatchObject({
      state: { status: "scheduled" },
    });
    expect(plan({ send_at: now + maxScheduleAheadMs + 1 }, now)).toMatchObject({
      error: { code: "too_far_ahead" },
    });
  });

  it("either cancel or send wins, in every order", () => {
    fc.assert(
      fc.property(state, (from) => {
        const canceled = cancel(from);
        if (canceled.decision === "canceled") {
          expect(
            handOver(canceled.state, now).decision,
            "A canceled message is not handed over.",
          ).toBe("none");
        }
        const handed = handOver(from, now);
        if (handed.decision === "send") {
          expect(
            cancel(handed.state).decision,
            "A message that is being handed over cannot be canceled.",
          ).toBe("refused");
        }
      }),
    );
  });

  it("only scheduled or queued messages can be canceled or expire", () => {
    fc.assert(
      fc.property(state, (from) => {
        const early = from.status === "scheduled" || from.status === "queued";
        expect(
          cancel(from).decision,
          `A message can be canceled only while it is scheduled or queued: it is ${from.status}.`,
        ).toBe(early ? "canceled" : "refused");
        if (!early) {
          expect(
            expire(from, now).decision,
            `A message can expire only while it is scheduled or queued: it is ${from.status}.`,
          ).toBe("none");
        }
      }),
    );
  });

  it("no message is handed over before its time or after its ttl", () => {
    fc.assert(
      fc.property(waiting, (from) => {
        const released = release(from, now);
        if (from.status === "scheduled") {
          expect(
            released.decision === "released",
            "A scheduled message is released exactly when its time has come.",
          ).toBe(from.send_at <= now);
        }
        const decided = handOver(stateAfter(from, released), now);
        if ("expires_at" in from && from.expires_at <= now) {
          expect(decided.decision, "No message is handed over after its time to live.").not.toBe(
            "send",
          );
        }
        if (decided.decision === "wait") {
          expect(decided.until, "A message waits only for a later time.").toBeGreaterThan(now);
        }
        if (decided.decision === "send" && from.status === "queued") {
          expect(from.due_at, "No message is handed over before it is due.").toBeLessThanOrEqual(
            now,
          );
        }
      }),
    );
  });

  it("an edit moves the ttl with the time, and is rejected once the message is sending", () => {
    const scheduled = {
      status: "scheduled",
      send_at: now + 10,
      expires_at: now + 30,
      attempts: 0,
    } as const;
    expect(edit(scheduled, {}, now)).toEqual({ decision: "edited", state: scheduled });
    expect(edit(scheduled, { send_at: now + 100 }, now)).toMatchObject({
      state: { expires_at: now + 120 },
    });
    expect(edit(scheduled, { send_at: 5 }, now)).toMatchObject({
      state: { send_at: now, expires_at: now + 20 },
    });
    expect(edit(scheduled, { send_at: now + maxScheduleAheadMs + 1 }, now).decision).toBe(
      "invalid",
    );
    fc.assert(
      fc.property(state, (from) => {
        expect(
          edit(from, {}, now).decision,
          `Only a scheduled message can be edited: it is ${from.status}.`,
        ).toBe(from.status === "scheduled" ? "edited" : "refused");
      }),
    );
  });
});

describe("after an attempt", () => {
  it("is retried only if it surely sent nothing, within the maximum attempts and the ttl", () => {
    fc.assert(
      fc.property(open, attempts, answer, (from, attempt, said) => {
        const decided = applyAnswer(from, { number: attempt, answer: said }, now);
        if (decided.decision !== "retry") return;
        expect(said, "Only an attempt that surely sent nothing is repeated.").toBe(throttled);
        expect(from).toMatchObject({ attempts: attempt });
        expect(decided.state.due_at, "The next attempt comes later.").toBeGreaterThan(now);
        expect(
          decided.state.due_at,
          "The next attempt comes within the time to live.",
        ).toBeLessThan(decided.state.expires_at);
        expect(attempt, `There are at most ${maxAttempts} attempts.`).toBeLessThan(maxAttempts);
      }),
    );
  });

  it("that sent nothing, it fails only without another attempt, and expires if that is too late", () => {
    const last = fc.oneof(
      fc.record({ status: fc.constant("sending" as const), expires_at, attempts }),
      fc.record({
        status: fc.constant("ambiguous" as const),
        expires_at,
        attempts,
        error: fc.constant(error),
      }),
    );
    const wait = fc.option(fc.nat(2 * hour), { nil: undefined });
    const next = fc.oneof(
      fc.constant(undefined),
      fc.constant("none" as const),
      fc.record({ transport: fc.constant("b"), at: anyTime }),
    );
    fc.assert(
      fc.property(last, wait, next, fc.boolean(), (from, retry_after_ms, to, isUnsent) => {
        const said = {
          ...throttled,
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

  it("a lost answer blocks the message until a look-up or the host application says that it was not sent", () => {
    const sending = { status: "sending", expires_at: now + hour, attempts: 2 } as const;
    for (const decided of [
      applyAnswer(sending, { number: 2, answer: unclear }, now),
      applyLostAnswer(sending, 2),
    ]) {
      const held = stateAfter(sending, decided);
      expect(held.status).toBe("ambiguous");
      expect(handOver(held, now + hour).decision).toBe("none");
      expect(applyNotSent(held, { number: 1 }, now).decision).toBe("none");
      expect(applyNotSent(held, { number: 2 }, now)).toMatchObject({
        decision: "retry",
        state: { due_at: now, attempts: 2 },
      });
    }
    const last = { ...sending, status: "ambiguous", attempts: maxAttempts, error } as const;
    expect(applyNotSent(last, { number: maxAttempts }, now).decision).toBe("failed");
  });

  it("a late answer about an older attempt changes nothing, unless it proves that the message was sent", () => {
    fc.assert(
      fc.property(state, attempts, answer, (from, attempt, said) => {
        const stale =
          !("attempts" in from) || from.status === "queued" || from.attempts !== attempt;
        fc.pre(stale);
        const decided = applyAnswer(from, { number: attempt, answer: said }, now);
        expect(
          decided.decision,
          "An answer about an older attempt counts only if it proves that the message was sent.",
        ).toBe(said === accepted ? "with_carrier" : "none");
      }),
    );
  });

  it("a permanent rejection fails the message with the carrier's reason", () => {
    const sending = { status: "sending", expires_at: now + hour, attempts: 1 } as const;
    expect(applyAnswer(sending, { number: 1, answer: landline }, now)).toMatchObject({
      decision: "failed",
      state: { error: { code: "landline", permanent: true, stage: "carrier" } },
    });
  });

  it("counts as delivered if a transport without receipts accepted it", () => {
    const sending = { status: "sending", expires_at: now + hour, attempts: 1 } as const;
    const answered = { number: 1, answer: accepted, accepted: "delivered" } as const;
    expect(applyAnswer(sending, answered, now)).toMatchObject({
      state: { delivered_at: now },
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
});

describe("once the carrier proves that it has the message", () => {
  it("the proof overrides canceled, expired and failed", () => {
    fc.assert(
      fc.property(state, receipt, (from, proof) => {
        const { state: to } = applyEvidence(from, evidenceOf(proof));
        expect(
          isWithCarrier(to),
          `A proof gives the message to the carrier: it is ${to.status}.`,
        ).toBe(true);
        if (!isWithCarrier(from)) expect(to).toMatchObject({ status: proof.status, at: proof.at });
      }),
    );
  });

  it("the message can no longer be sent, canceled, edited, expired or failed", () => {
    fc.assert(
      fc.property(carrierState, attempts, answer, (from, attempt, said) => {
        expect(
          handOver(from, now).decision,
          `A message that the carrier has is not handed over: it is ${from.status}.`,
        ).toBe("none");
        expect(
          release(from, now).decision,
          `A message that the carrier has is not released: it is ${from.status}.`,
        ).toBe("none");
        expect(
          cancel(from).decision,
          `A message that the carrier has cannot be canceled: it is ${from.status}.`,
        ).toBe("refused");
        expect(
          edit(from, {}, now).decision,
          `A message that the carrier has cannot be edited: it is ${from.status}.`,
        ).toBe("refused");
        expect(
          expire(from, now).decision,
          `A message that the carrier has does not expire: it is ${from.status}.`,
        ).toBe("none");
        expect(
          applyLostAnswer(from, attempt).decision,
          `A lost answer does not change a message that the carrier has: it is ${from.status}.`,
        ).toBe("none");
        expect(
          applyNotSent(from, { number: attempt }, now).decision,
          `A look-up takes no message from the carrier: it is ${from.status}.`,
        ).toBe("none");
        expect(
          ["none", "with_carrier"],
          `A message that the carrier has stays there: it is ${from.status}.`,
        ).toContain(applyAnswer(from, { number: attempt, answer: said }, now).decision);
      }),
    );
  });

  it("the message ends the same with every order and repetition of receipts and the answer", () => {
    type Step = { receipt: Receipt } | { answer: SendAnswer };
    const steps = fc.array(
      fc.oneof(
        receipt.map((each): Step => ({ receipt: each })),
        fc.constantFrom(accepted, throttled, unclear).map((each): Step => ({ answer: each })),
      ),
      { minLength: 1, maxLength: 6 },
    );
    const sending: MessageState = { status: "sending", expires_at: now + hour, attempts: 1 };
    const run = (list: readonly Step[]) =>
      list.reduce<MessageState>((from, step) => {
        const decided: AfterAttempt =
          "receipt" in step
            ? applyEvidence(from, evidenceOf(step.receipt))
            : applyAnswer(from, { number: 1, answer: step.answer }, now);
        return stateAfter(from, decided);
      }, sending);
    const pair = steps.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.shuffledSubarray([...list, ...list], { minLength: 2 * list.length }),
      ),
    );
    fc.assert(
      fc.property(pair, ([list, other]) => {
        // No carrier gives both a rejection and a lost answer for one attempt.
        fc.pre(list.some((step) => "receipt" in step || step.answer === accepted));
        expect(run(other)).toEqual(run(list));
      }),
    );
  });

  it("a message without receipts becomes unconfirmed, and a later receipt settles it", () => {
    const sent = applyEvidence(
      { status: "canceled" },
      { status: "sent", at: now, error: null },
    ).state;
    const waited = applyReceiptTimeout(sent, now + 60_000);
    expect(waited).toMatchObject({ state: { status: "unconfirmed", sent_at: now } });
    const settled = applyEvidence(
      stateAfter(sent, waited),
      evidenceOf({ status: "delivered", at: now + 5 }),
    );
    expect(settled.state).toMatchObject({ status: "delivered", sent_at: now });
    fc.assert(
      fc.property(state, (from) => {
        expect(
          applyReceiptTimeout(from, now).decision,
          `Only a sent message can wait too long for its receipt: it is ${from.status}.`,
        ).toBe(from.status === "sent" ? "with_carrier" : "none");
      }),
    );
  });
});

describe("the event of an end", () => {
  it("reports the first delivery, and the first failure of every kind", () => {
    expect(endEventOf("queued", "sending")).toBeUndefined();
    expect(endEventOf("queued", "canceled")).toBeUndefined();
    expect(endEventOf("sent", "delivered")).toBe("message.sent");
    expect(endEventOf("sent", "read")).toBe("message.sent");
    expect(endEventOf("delivered", "read")).toBeUndefined();
    for (const to of ["failed", "undelivered", "expired"] as const) {
      expect(endEventOf("sent", to)).toBe("message.failed");
    }
    expect(endEventOf("failed", "undelivered")).toBeUndefined();
    expect(endEventOf("sent", "undelivered", "failed")).toBeUndefined();
    expect(endEventOf("sent", "undelivered", "canceled")).toBe("message.failed");
    for (const status of messageStatuses) expect(endEventOf(status, status)).toBeUndefined();
  });
});
