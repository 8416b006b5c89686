/** The rules of messages that wait to be sent. Their times are often at an edge. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { maxScheduleAheadMs } from "../../src/kernel/limits.ts";
import {
  cancel,
  channelOf,
  defer,
  edit,
  expiredState,
  handOver,
  hasExpired,
  plan,
  policyError,
  release,
  type MessageState,
} from "../../src/messages/rules.ts";

const now = 10 * maxScheduleAheadMs;
const hour = 3_600_000;
const furthest = now + maxScheduleAheadMs;

const around = (...times: readonly number[]) =>
  fc.constantFrom(...times.flatMap((time) => [time - 1, time, time + 1]));
const send_at = fc.oneof(around(now, furthest), fc.nat(2 * furthest));
const ttl = fc.integer({ min: 1, max: 8 * hour });
const expires_at = fc.oneof(around(now, now + hour), fc.nat(2 * now));
const attempts = fc.nat(5);
const waiting = fc.oneof(
  fc.record({ status: fc.constant("scheduled" as const), send_at, expires_at, attempts }),
  // Deferrals have used up its time to live.
  fc.record({ send_at, attempts }).map(({ send_at: at, ...given }) => ({
    status: "scheduled" as const,
    send_at: at,
    expires_at: at,
    ...given,
  })),
  fc.record({ status: fc.constant("queued" as const), due_at: send_at, expires_at, attempts }),
);

const tooFar = {
  decision: "invalid",
  error: {
    pointer: "/send_at",
    code: "too_far_ahead",
    message: "must be at most 35 days ahead",
  },
};

describe("a new message", () => {
  it("is queued at once, or scheduled for a time of at most 35 days ahead", () => {
    const time = fc.option(fc.option(send_at), { nil: undefined });
    fc.assert(
      fc.property(time, fc.option(ttl, { nil: undefined }), (at, given) => {
        const planned = plan(
          { send_at: at ?? null, ...(given === undefined ? {} : { ttl: given }) },
          now,
        );
        const lives = given ?? 4 * hour;
        if (at === undefined || at === null || at <= now) {
          expect(planned, "A message without a later time is due at once.").toEqual({
            decision: "planned",
            state: { status: "queued", due_at: now, expires_at: now + lives, attempts: 0 },
          });
        } else if (at > furthest) {
          expect(planned, "No message is scheduled for more than 35 days ahead.").toEqual(tooFar);
        } else {
          expect(planned, "A scheduled message lives from its time on.").toEqual({
            decision: "planned",
            state: { status: "scheduled", send_at: at, expires_at: at + lives, attempts: 0 },
          });
        }
      }),
    );
    expect(plan({}, now)).toEqual(plan({ send_at: null, ttl: 4 * hour }, now));
  });

  it("is an MMS if it has media and names no channel", () => {
    expect(channelOf({})).toBe("sms");
    expect(channelOf({ media: [] })).toBe("sms");
    expect(channelOf({ media: [{}] })).toBe("mms");
    expect(channelOf({ channel: "sms", media: [{}] })).toBe("sms");
    expect(channelOf({ channel: "webchat" })).toBe("webchat");
  });
});

describe("a waiting message", () => {
  it("moves with its time to live when a scheduled one is edited", () => {
    fc.assert(
      fc.property(waiting, send_at, (from, at) => {
        const edited = edit(from, { send_at: at }, now);
        if (from.status !== "scheduled") {
          expect(edited, "Only a scheduled message has a time to edit.").toEqual({
            decision: "refused",
            status: from.status,
          });
        } else if (at > furthest) {
          expect(edited, "No message moves to more than 35 days ahead.").toEqual(tooFar);
        } else {
          const moved = Math.max(at, now);
          const left = from.expires_at - from.send_at;
          expect(
            edited,
            "A message moves to its new time with its time to live, or with the default one if " +
              "deferrals have used that up. A past time means now.",
          ).toEqual({
            decision: "edited",
            state: { ...from, send_at: moved, expires_at: moved + (left > 0 ? left : 4 * hour) },
          });
        }
      }),
    );
  });

  it("keeps nothing when it is canceled", () => {
    fc.assert(
      fc.property(waiting, (from) => {
        expect(cancel(from), "A canceled message has no time and no attempts.").toEqual({
          decision: "canceled",
          state: { status: "canceled" },
        });
      }),
    );
  });

  it("is queued when its time has come", () => {
    fc.assert(
      fc.property(waiting, (from) => {
        const isDue = from.status === "scheduled" && from.send_at <= now;
        expect(
          release(from, now),
          "A scheduled message is due at once when its time has come.",
        ).toEqual(
          isDue
            ? {
                decision: "released",
                state: {
                  status: "queued",
                  due_at: now,
                  expires_at: from.expires_at,
                  attempts: from.attempts,
                },
              }
            : { decision: "none" },
        );
      }),
    );
  });

  it("expires in the millisecond in which its time to live ends", () => {
    fc.assert(
      fc.property(waiting, (from) => {
        expect(
          hasExpired(from, now),
          "A waiting message expires when its time to live is over, and not before.",
        ).toBe(from.expires_at <= now);
      }),
    );
    expect(expiredState).toEqual({
      status: "expired",
      error: {
        code: "ttl_elapsed",
        message: "The message could not be sent within its time to live.",
        permanent: false,
        stage: "queue",
        provider_code: null,
      },
    });
  });

  it("is handed over when it is due, as one more attempt, or waits until it is due or expires", () => {
    const queued = { status: "queued", expires_at: now + 1, attempts: 0 } as const;
    expect(handOver({ ...queued, due_at: now }, now).decision).toBe("send");
    fc.assert(
      fc.property(waiting, (from) => {
        const handed = handOver(from, now);
        if (from.status === "scheduled") {
          expect(handed, "A scheduled message is not handed over.").toEqual({ decision: "none" });
        } else if (from.expires_at <= now) {
          expect(handed, "A message is not handed over after its time to live.").toEqual({
            decision: "expire",
          });
        } else if (from.due_at <= now) {
          expect(handed, "A message that is due is handed over, as one more attempt.").toEqual({
            decision: "send",
            state: {
              status: "sending",
              expires_at: from.expires_at,
              attempts: from.attempts + 1,
            },
          });
        } else {
          expect(handed, "A message waits until it is due, or until it expires.").toEqual({
            decision: "wait",
            until: Math.min(from.due_at, from.expires_at),
          });
        }
      }),
    );
  });
});

describe("a message that a policy defers", () => {
  const planned_at = fc.oneof(
    around(now, now - maxScheduleAheadMs, now - 2 * maxScheduleAheadMs),
    fc.nat(now),
  );
  const until = fc.oneof(around(now, now + 1_000), fc.nat(2 * furthest));

  it("waits at least a second, and loses none of its time to live", () => {
    const queued = fc.record({ expires_at, attempts });
    fc.assert(
      fc.property(queued, until, planned_at, (from, time, planned) => {
        const deferred = defer({ ...from, status: "queued", due_at: now }, time, planned, now);
        expect(deferred, "A deferred message is scheduled and keeps its attempts.").toMatchObject({
          status: "scheduled",
          attempts: from.attempts,
        });
        const until = Math.max(time, now + 1_000);
        expect(
          deferred.send_at,
          "A message waits until the policy's time, and not beyond its expiry.",
        ).toBe(Math.min(until, deferred.expires_at));
        const last = planned + 2 * maxScheduleAheadMs;
        const moved = from.expires_at + until - now;
        expect(
          deferred.expires_at,
          "The expiry moves with the message to at most 70 days after its time was set, never back.",
        ).toBe(moved <= last ? moved : Math.max(from.expires_at, last));
      }),
    );
  });

  it("must be queued", () => {
    const others: readonly MessageState[] = [
      { status: "sending", expires_at: now, attempts: 1 },
      { status: "canceled" },
    ];
    for (const state of others) {
      expect(() => defer(state, now, now, now)).toThrow(
        `cannot defer a message with status ${state.status}; only a queued message can be deferred`,
      );
    }
  });
});

test("the code of a host application's policy is shown as the provider's", () => {
  const denied = { message: "No.", permanent: true, stage: "policy" };
  expect(policyError("recipient_opted_out", "No.")).toEqual({
    ...denied,
    code: "recipient_opted_out",
    provider_code: null,
  });
  expect(policyError("too_many", "No.")).toEqual({
    ...denied,
    code: "policy_denied",
    provider_code: "too_many",
  });
});
