/** What the attempts of a message together make of it. The functions are pure. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerLost, carrierError, proved } from "../../src/messages/attempts/carrier-reports.ts";
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
        return attemptWith({ ...own, ...proved({ evidence: null }, reports[kind]) });
    }
  });
}

const ends = (
  attempts: readonly AttemptRow[],
  next: NextAttempt = "none",
  columns: Partial<MessageRow> = {},
) => {
  const message = messageWith({ attempts: attempts.length, ...columns });
  const outcome = outcomeOf(message, attempts, now, () => next);
  if (outcome === undefined) return "the same";
  return [outcome.state.status, outcome.columns.transport ?? "the same", outcome.columns.basis];
};

describe("a message", () => {
  it.each<[readonly Kind[], ReturnType<typeof ends>]>([
    [["pending"], ["sending", "first", null]],
    [["sent"], ["sent", "first", 1]],
    [["undelivered"], ["undelivered", "first", 1]],
    [["lost"], ["ambiguous", "first", null]],
    [["refused for good"], ["failed", "the same", undefined]],
    // Proof of an arrival counts, whichever attempt it is.
    [
      ["delivered", "pending"],
      ["delivered", "first", 1],
    ],
    [
      ["delivered", "read"],
      ["read", "second", 2],
    ],
    [
      ["undelivered", "delivered"],
      ["delivered", "second", 2],
    ],
    // What a carrier has is not sent again.
    [
      ["sent", "pending"],
      ["sent", "first", 1],
    ],
    [
      ["sent", "lost"],
      ["sent", "first", 1],
    ],
    [
      ["sent", "sent"],
      ["sent", "second", 2],
    ],
    [
      ["unconfirmed", "sent"],
      ["unconfirmed", "first", 1],
    ],
    [
      ["sent", "undelivered"],
      ["sent", "first", 1],
    ],
    // An attempt that is under way decides before those that have failed.
    [
      ["lost", "pending"],
      ["sending", "second", null],
    ],
    [
      ["undelivered", "pending"],
      ["sending", "second", null],
    ],
    // A message that may have been sent does not fail.
    [
      ["lost", "refused for good"],
      ["ambiguous", "first", null],
    ],
    [
      ["undelivered", "refused for good"],
      ["undelivered", "first", 1],
    ],
    [
      ["undelivered", "lost"],
      ["ambiguous", "second", null],
    ],
    [
      ["lost", "undelivered"],
      ["ambiguous", "first", null],
    ],
  ])("with the attempts %j is %j", (kinds, expected) => {
    expect(ends(made(...kinds))).toEqual(expected);
  });

  it("goes on with the next attempt, within its time to live", () => {
    const next = { transport: "second", at: now + 7 };
    for (const kinds of [["refused"], ["lost"], ["undelivered"]] as const) {
      expect(ends(made(...kinds), next)).toEqual(["queued", "second", null]);
    }
    const late = { transport: "second", at: now + hour };
    expect(ends(made("refused"), late)[0]).toBe("expired");
    expect(ends(made("refused"), { ...late, at: late.at - 1 })[0]).toBe("queued");
    expect(ends(made("lost"), late), "It may have been sent.").toEqual([
      "ambiguous",
      "first",
      null,
    ]);
    expect(ends(made("sent"), next), "A carrier has it.").toEqual(["sent", "first", 1]);
  });

  it("that has ended is changed by proof only", () => {
    const next = { transport: "second", at: now };
    for (const status of ["canceled", "expired", "failed"] as const) {
      for (const kind of ["pending", "lost", "refused"] as const) {
        expect(ends(made(kind), next, { status })).toBe("the same");
      }
      for (const kind of ["sent", "undelivered", "delivered", "read"] as const) {
        expect(ends(made(kind), next, { status })).toEqual([kind, "first", 1]);
      }
    }
    const ended = { status: "sent", ended_as: "expired" } as const;
    expect(ends(made("undelivered"), next, ended)).toEqual(["undelivered", "first", 1]);
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
    expect(dueAt(now + 80, { retry_at: now + 50 })).toBe(80);
    expect(dueAt(now, { retry_at: now + 50, transport: "second" }), "Another carrier.").toBe(0);
    const deferred = { status: "scheduled", send_at: now + 50 } as const;
    expect(dueAt(now + 50, deferred), "The deferral goes on.").toBe("scheduled");
    expect(dueAt(now + 51, deferred)).toBe(51);
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
            attempts[attempt] = { ...before, ...proved(before, each) };
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
