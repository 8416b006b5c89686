/** What the attempts of a message together make of it. The functions are pure. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  answerLost,
  carrierError,
  provenColumns,
} from "../../src/messages/attempts/carrier-reports.ts";
import type { Evidence } from "../../src/messages/attempts/evidence.ts";
import { nextAttempt } from "../../src/messages/attempts/next-attempt.ts";
import { endingOf, outcomeOf } from "../../src/messages/attempts/outcome.ts";
import { retryDelays, type NextAttempt } from "../../src/messages/routes/route-rules.ts";
import { initialColumns, type AttemptRow, type MessageRow } from "../../src/messages/rows.ts";
import type { CarrierErrorCode } from "../../src/ports/carrier-errors.ts";
import type { Route } from "../../src/ports/route.ts";

const now = 10_000_000;
const hour = 3_600_000;

function messageWith(columns: Partial<MessageRow>): MessageRow {
  return {
    ...initialColumns,
    id: "msg_1",
    account_id: "acct_1",
    mode: "live",
    conversation_id: "conv_1",
    contact_id: "ct_1",
    sequence: 1,
    placed_at: now,
    direction: "outbound",
    channel: "sms",
    status: "sending",
    from: "+15005550100",
    to: "+15005550001",
    body: "Hello",
    media: [],
    author_type: "api",
    author_id: null,
    category: "transactional",
    segments: 1,
    encoding: "GSM-7",
    send_at: null,
    expires_at: now + hour,
    transport: "first",
    metadata: {},
    idempotency_key: null,
    created_at: now - 1_000,
    updated_at: now - 1_000,
    ...columns,
  };
}

function attemptWith(columns: Partial<AttemptRow>): AttemptRow {
  return {
    id: "att_1",
    account_id: "acct_1",
    mode: "live",
    message_id: "msg_1",
    number: 1,
    transport: "first",
    started_at: now - 1_000,
    leased_until: now + 60_000,
    outcome: "pending",
    evidence: null,
    answered_at: null,
    answer_id: null,
    provider_message_id: null,
    error: null,
    reported_error: null,
    not_before: null,
    next_attempt_at: null,
    led_to: null,
    message_version: 2,
    answer_version: null,
    lookups: 0,
    ...columns,
  };
}

const reason = (code: CarrierErrorCode, permanent = false) =>
  carrierError({ code, message: "No." }, permanent);
const shown = { code: "unreachable", message: "Off.", permanent: false } as const;
const given = { ...shown, stage: "handset", provider_code: null } as const;

const reports = {
  sent: { status: "sent", at: now, error: null },
  unconfirmed: { status: "unconfirmed", at: now, error: null },
  delivered: { status: "delivered", at: now + 5, error: null },
  read: { status: "read", at: now + 9, error: null },
  undelivered: { status: "undelivered", at: now + 3, error: given },
} satisfies Record<string, Evidence>;

type Kind = keyof typeof reports | "pending" | "lost" | "refused" | "refused for good";

/** Returns attempts with these outcomes, the odd ones over the first transport. */
function made(...kinds: readonly Kind[]): AttemptRow[] {
  return kinds.map((kind, i) => {
    const number = i + 1;
    const transport = number % 2 === 1 ? "first" : "second";
    const own = { number, transport, id: `att_${number}`, answered_at: now } as const;
    switch (kind) {
      case "pending":
        return attemptWith({ ...own, answered_at: null });
      case "lost":
        return attemptWith({ ...own, outcome: "ambiguous", error: answerLost });
      case "refused":
        return attemptWith({ ...own, outcome: "rejected", error: reason("throttled") });
      case "refused for good":
        return attemptWith({ ...own, outcome: "rejected", error: reason("invalid_sender", true) });
      default:
        return attemptWith({ ...own, ...provenColumns({ evidence: null }, reports[kind]) });
    }
  });
}

const ends = (
  attempts: readonly AttemptRow[],
  next: NextAttempt = "none",
  columns: Partial<MessageRow> = {},
): string => {
  const message = messageWith({ attempts: attempts.length, ...columns });
  const outcome = outcomeOf(message, attempts, now, () => next);
  if (outcome === undefined) return "as before";
  const { transport, basis } = outcome.columns;
  const attempt = typeof basis === "number" ? ` by attempt ${basis}` : "";
  return `${outcome.state.status}${attempt}${transport ? ` over the ${transport}` : ""}`;
};

describe("a message", () => {
  it.each([
    ["pending", "sending over the first"],
    ["sent", "sent by attempt 1 over the first"],
    ["undelivered", "undelivered by attempt 1 over the first"],
    ["lost", "ambiguous over the first"],
    ["refused for good", "failed"],
    // What a carrier has is not sent again, and the highest status counts.
    ["delivered, pending", "delivered by attempt 1 over the first"],
    ["delivered, sent", "delivered by attempt 1 over the first"],
    ["delivered, read", "read by attempt 2 over the second"],
    ["undelivered, delivered", "delivered by attempt 2 over the second"],
    ["sent, pending", "sent by attempt 1 over the first"],
    ["sent, lost", "sent by attempt 1 over the first"],
    ["sent, undelivered", "sent by attempt 1 over the first"],
    ["sent, sent", "sent by attempt 2 over the second"],
    ["unconfirmed, sent", "unconfirmed by attempt 1 over the first"],
    // An attempt that is under way decides before those that have failed.
    ["lost, pending", "sending over the second"],
    ["undelivered, pending", "sending over the second"],
    // A message that may have been sent does not fail, and one that a carrier had was not refused.
    ["lost, refused for good", "ambiguous over the first"],
    ["lost, undelivered", "ambiguous over the first"],
    ["undelivered, lost", "ambiguous over the second"],
    ["undelivered, refused for good", "undelivered by attempt 1 over the first"],
  ])("with the attempts %s is %s", (kinds, expected) => {
    expect(ends(made(...(kinds.split(", ") as Kind[])))).toBe(expected);
  });

  it("goes on with the next attempt, within its time to live", () => {
    const next = { transport: "second", at: now + 7 };
    for (const kinds of [["refused"], ["lost"], ["undelivered"]] as const) {
      expect(ends(made(...kinds), next)).toBe("queued over the second");
    }
    const late = { transport: "second", at: now + hour };
    expect(ends(made("refused"), late)).toBe("expired");
    expect(ends(made("refused"), { ...late, at: late.at - 1 })).toBe("queued over the second");
    expect(ends(made("lost"), late), "It may have been sent.").toBe("ambiguous over the first");
    expect(ends(made("sent"), next), "A carrier has it.").toBe("sent by attempt 1 over the first");
  });

  it("that has ended is changed by proof only", () => {
    const next = { transport: "second", at: now };
    for (const status of ["canceled", "expired", "failed"] as const) {
      for (const kind of ["pending", "lost", "refused"] as const) {
        expect(ends(made(kind), next, { status })).toBe("as before");
      }
      for (const kind of ["sent", "undelivered", "delivered", "read"] as const) {
        expect(ends(made(kind), next, { status })).toBe(`${kind} by attempt 1 over the first`);
      }
    }
    const ended = { status: "sent", ended_as: "expired" } as const;
    expect(ends(made("undelivered"), next, ended)).toBe("undelivered by attempt 1 over the first");
  });

  it("that is denied or has expired ends so, unless a carrier may have it or has had it", () => {
    const denied = { status: "failed", error: reason("unknown", true) } as const;
    const endOf = (...kinds: readonly Kind[]) =>
      endingOf(messageWith({ status: "queued" }), made(...kinds), denied).state;
    expect(endOf()).toBe(denied);
    expect(endOf("refused")).toBe(denied);
    expect(endOf("lost", "refused")).toMatchObject({ status: "ambiguous", error: answerLost });
    expect(endOf("undelivered", "refused")).toMatchObject({ status: "undelivered", error: given });
  });

  it("keeps the end of its time to live, which may be none", () => {
    const next = { transport: "second", at: now + 7 };
    for (const kinds of [["pending"], ["refused"], ["lost"]] as const) {
      const expiryOf = (expires_at: number | null) => {
        const message = messageWith({ attempts: 1, expires_at });
        const plan = () => (kinds[0] === "lost" ? "none" : next);
        return outcomeOf(message, made(...kinds), now, plan)?.state;
      };
      expect(expiryOf(now + hour)).toMatchObject({ expires_at: now + hour });
      expect(expiryOf(null)).toMatchObject({ expires_at: Infinity });
    }
  });

  it("shows the error of the attempt that decides", () => {
    const errorOf = (kind: Kind, error: AttemptRow["error"]) => {
      const attempts = made(kind).map((each) => ({ ...each, error }));
      return outcomeOf(messageWith({ attempts: 1 }), attempts, now, () => "none")?.state;
    };
    expect(errorOf("refused for good", reason("filtered"))).toMatchObject({
      status: "failed",
      error: reason("filtered"),
    });
    expect(errorOf("lost", reason("unknown"))).toMatchObject({ error: reason("unknown") });
    expect(errorOf("lost", null)).toMatchObject({ status: "ambiguous", error: answerLost });
  });

  it("keeps the time that was planned, unless a carrier asks for a later one", () => {
    const dueAt = (at: number, columns: Partial<MessageRow>) => {
      const message = messageWith({ status: "queued", attempts: 1, ...columns });
      const next = { transport: "first", at };
      const outcome = outcomeOf(message, made("refused"), now, () => next);
      return outcome?.state.status === "queued"
        ? outcome.state.due_at - now
        : outcome?.state.status;
    };
    expect(dueAt(now, { retry_at: now - 50 })).toBe(-50);
    expect(dueAt(now + 20, { retry_at: now + 50 })).toBe(50);
    expect(dueAt(now, { retry_at: null }), "None was planned.").toBe(0);
    expect(dueAt(now + 20, { retry_at: now + 50, status: "sending" }), "It is over.").toBe(20);
    expect(dueAt(now + 20, { send_at: now + 50 }), "It is no deferral.").toBe(20);
    expect(dueAt(now + 80, { retry_at: now + 50 })).toBe(80);
    expect(dueAt(now, { retry_at: now + 50, transport: "second" }), "Another carrier.").toBe(0);
    const deferred = { status: "scheduled", send_at: now + 50 } as const;
    expect(dueAt(now + 50, deferred), "The deferral goes on.").toBe("scheduled");
    expect(dueAt(now + 51, deferred)).toBe(51);
    const sending = { status: "sending", send_at: now + 50, retry_at: now - 50 } as const;
    expect(dueAt(now, sending), "Nothing is planned for what is being sent.").toBe(0);
  });

  it("has the same outcome with every order and repetition of what carriers report", () => {
    const evidence = fc.constantFrom(...Object.values(reports));
    const reported = fc
      .array(fc.record({ attempt: fc.nat(2), evidence }), { maxLength: 6 })
      .chain((list) =>
        fc.tuple(
          fc.constant(list),
          fc.shuffledSubarray([...list, ...list], { minLength: 2 * list.length }),
        ),
      );
    const kinds = fc.tuple(
      fc.constantFrom<Kind>("lost", "refused", "refused for good"),
      fc.constantFrom<Kind>("lost", "refused", "refused for good"),
      fc.constantFrom<Kind>("lost", "refused", "refused for good", "pending"),
    );
    fc.assert(
      fc.property(kinds, reported, (began, [list, other]) => {
        const after = (all: typeof list) => {
          const attempts = made(...began);
          for (const { attempt, evidence: each } of all) {
            const before = attempts[attempt] ?? expect.fail("no attempt");
            attempts[attempt] = { ...before, ...provenColumns(before, each) };
          }
          return outcomeOf(messageWith({ attempts: 3 }), attempts, now, () => "none");
        };
        expect(after(other)).toEqual(after(list));
      }),
    );
  });
});

describe("the next attempt", () => {
  const factsByTransport = new Map(
    ["first", "second"].map((name) => [
      name,
      { channels: ["sms"], modes: ["live"], receipts: "none", canLookUp: true } as const,
    ]),
  );
  const after = (
    attempts: readonly AttemptRow[],
    fallBackAfter?: Route["fallBackAfter"],
    columns: Partial<MessageRow> = {},
  ): NextAttempt => {
    const routes =
      fallBackAfter === undefined ? [] : [{ transports: ["first", "second"], fallBackAfter }];
    const last = attempts.at(-1) ?? expect.fail("no attempt");
    const routing = { routes, factsByTransport: factsByTransport as never };
    return nextAttempt(routing, messageWith(columns), attempts, last, now);
  };
  const refusedBy = (tries: number, columns: Partial<AttemptRow> = {}) =>
    Array.from({ length: tries }, (_, i) =>
      attemptWith({
        number: i + 1,
        outcome: "rejected",
        error: reason("throttled"),
        answered_at: now,
        ...columns,
      }),
    );

  it("comes after 1 s, 5 s, 30 s, 2 m and 10 m, unless the carrier names its own time", () => {
    expect([1, 2, 3, 4, 5].map((tries) => after(refusedBy(tries)))).toEqual(
      retryDelays.map((delay) => ({ transport: "first", at: now + delay })),
    );
    expect(after(refusedBy(6)), "The sixth is the last.").toBe("none");
    expect(after(refusedBy(1, { error: null }))).toMatchObject({ transport: "first" });
    const asked = refusedBy(1, { not_before: now + 70 });
    expect(after(asked)).toEqual({ transport: "first", at: now + 70 });
    expect(after(refusedBy(1, { answered_at: now - hour }))).toMatchObject({ at: now });
  });

  it("is over another transport if there is one, and there alone after a final refusal", () => {
    expect(after(refusedBy(1), [])).toEqual({ transport: "second", at: now });
    expect(after(made("refused for good"))).toBe("none");
    expect(after(made("refused for good"), [])).toEqual({ transport: "second", at: now });
    expect(after(made("refused for good", "refused for good"), [])).toBe("none");
  });

  it("is over no other transport if a carrier refused the message itself", () => {
    const filtered = refusedBy(1, { error: reason("filtered", true) });
    expect(after(filtered, ["undelivered"])).toBe("none");
    const unreachable = refusedBy(1, { error: reason("unreachable") });
    expect(after(unreachable, [])).toMatchObject({ transport: "first" });
  });

  it("follows an attempt that may have been sent only if the route says so", () => {
    for (const [kind, outcome] of [
      ["lost", "ambiguous"],
      ["undelivered", "undelivered"],
    ] as const) {
      const attempts = kind === "lost" ? made(kind) : [gaveUp("carrier_unavailable")];
      expect(after(attempts)).toBe("none");
      expect(after(attempts, [])).toBe("none");
      expect(after(attempts, [outcome])).toEqual({ transport: "second", at: now });
      expect(after(attempts, [outcome], { body: null }), "It was redacted.").toBe("none");
      const planned = attempts.map((each) => ({ ...each, next_attempt_at: now - 5 }));
      expect(after(planned, []), "It was planned before.").toMatchObject({ transport: "second" });
    }
    expect(after([gaveUp("unreachable")], ["undelivered"]), "The handset is off.").toBe("none");
  });

  const gaveUp = (code: CarrierErrorCode): AttemptRow => {
    const [attempt = expect.fail("no attempt")] = made("undelivered");
    return { ...attempt, error: reason(code), reported_error: reason(code) };
  };
});
