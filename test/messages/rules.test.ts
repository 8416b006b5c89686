import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageStatuses } from "../../src/kernel/message-status.ts";
import {
  applyAnswer,
  applyLostAnswer,
  applyNotSent,
  carrierError,
  evidenceOf,
  type AfterAttempt,
} from "../../src/messages/attempts/attempt-rules.ts";
import { maxAttempts } from "../../src/messages/routes/route-rules.ts";
import {
  applyEvidence,
  applyReceiptTimeout,
  cancel,
  edit,
  endEventOf,
  expire,
  handOver,
  isWithCarrier,
  release,
  type MessageState,
} from "../../src/messages/rules.ts";
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

it("only a scheduled message can be edited, and only a scheduled or queued one canceled or expired", () => {
  fc.assert(
    fc.property(state, (from) => {
      const early = from.status === "scheduled" || from.status === "queued";
      expect(
        cancel(from).decision,
        `A message can be canceled only while it is scheduled or queued: it is ${from.status}.`,
      ).toBe(early ? "canceled" : "refused");
      expect(
        edit(from, {}, now),
        `Only a scheduled message can be edited: it is ${from.status}.`,
      ).toEqual(
        from.status === "scheduled"
          ? { decision: "edited", state: from }
          : { decision: "refused", status: from.status },
      );
      if (!early) {
        expect(
          expire(from, now).decision,
          `A message can expire only while it is scheduled or queued: it is ${from.status}.`,
        ).toBe("none");
      }
    }),
  );
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
