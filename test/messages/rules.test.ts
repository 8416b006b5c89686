import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageStatuses } from "../../src/kernel/message-status.ts";
import { carrierError } from "../../src/messages/attempts/carrier-reports.ts";
import { maxAttempts } from "../../src/messages/routes/route-rules.ts";
import {
  cancel,
  edit,
  endEventOf,
  handOver,
  hasExpired,
  release,
  type MessageState,
} from "../../src/messages/rules.ts";

const now = 1_000_000;
const hour = 3_600_000;
const error = carrierError({ code: "throttled", message: "Slow down." }, false);

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
const withCarrier: fc.Arbitrary<MessageState> = fc.record({
  status: fc.constantFrom("sent", "unconfirmed", "undelivered", "delivered", "read"),
});
const state = fc.oneof(waiting, open, ended, withCarrier);

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
          hasExpired(from, now),
          `A message can expire only while it is scheduled or queued: it is ${from.status}.`,
        ).toBe(false);
      }
    }),
  );
});

it("a message that a carrier has can no longer be sent, canceled, edited or expire", () => {
  fc.assert(
    fc.property(withCarrier, (from) => {
      const decisions = [
        handOver(from, now),
        release(from, now),
        cancel(from),
        edit(from, {}, now),
      ];
      expect(
        decisions.map(({ decision }) => decision),
        `It is ${from.status}.`,
      ).toEqual(["none", "none", "refused", "refused"]);
      expect(hasExpired(from, now), `It is ${from.status}.`).toBe(false);
    }),
  );
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
