import fc from "fast-check";
import { expect, test } from "vitest";
import {
  attentionOf,
  changeStatus,
  effectOfInbound,
  handlerOnAssign,
  handlerOnHandBack,
  maxSnoozeMs,
  readAtAfterMessage,
  readAtNow,
  type Attention,
  type MessageRole,
  type Standing,
} from "../../src/conversations/rules.ts";

const now = 1_700_000_000_000;
const standing: fc.Arbitrary<Standing> = fc.oneof(
  fc.record({
    status: fc.constant("open"),
    snoozed_until: fc.constant(null),
    closed_at: fc.constant(null),
    current: fc.constant(true),
  }),
  fc.record({
    status: fc.constant("snoozed"),
    snoozed_until: fc.integer({ min: now - 10, max: now + maxSnoozeMs }),
    closed_at: fc.constant(null),
    current: fc.constant(true),
  }),
  fc.record({
    status: fc.constant("closed"),
    snoozed_until: fc.constant(null),
    closed_at: fc.integer({ min: now - 100_000, max: now }),
    current: fc.constantFrom(true, null),
  }),
);

test("a status has only its own fields, and only a replaced conversation cannot be reopened", () => {
  const asked = fc.oneof(
    fc.record({ status: fc.constantFrom("open", "closed") }),
    fc.record({
      status: fc.constant("snoozed"),
      snoozed_until: fc.integer({ min: now - 10, max: now + maxSnoozeMs + 10 }),
    }),
  );
  fc.assert(
    fc.property(standing, asked, (before, wish) => {
      const change = changeStatus(before, wish, now);
      if (change.decision === "change") {
        const { status, snoozed_until, closed_at } = change.patch;
        expect([status, snoozed_until !== null, closed_at !== null]).toEqual([
          wish.status,
          status === "snoozed",
          status === "closed",
        ]);
      }
      const isLate =
        before.status === "closed" && before.current === null && wish.status !== "closed";
      expect(
        change.decision === "superseded",
        "A change is superseded exactly if the contact has begun a new conversation since.",
      ).toBe(isLate);
      const until = "snoozed_until" in wish ? wish.snoozed_until : now + 1;
      const isInvalid = until <= now || until > now + maxSnoozeMs;
      if (!isLate) {
        expect(
          change.decision,
          "A conversation can be snoozed until a time that is later, and not too late.",
        ).toBe(isInvalid ? "invalid" : "change");
      }
    }),
  );
});

test("a snooze must end within 366 days; the error names the limit", () => {
  const day = 24 * 3_600_000;
  const open: Standing = { status: "open", snoozed_until: null, closed_at: null, current: true };
  const snoozed = (snoozed_until: number) =>
    changeStatus(open, { status: "snoozed", snoozed_until }, now);
  expect([snoozed(now + 1), snoozed(now + 366 * day)]).toMatchObject([
    { decision: "change" },
    { decision: "change" },
  ]);
  const outOfRange = { pointer: "/snoozed_until", code: "out_of_range" };
  expect([snoozed(now), snoozed(now + 366 * day + 1)]).toMatchObject([
    { error: { ...outOfRange, message: "must be in the future" } },
    { error: { ...outOfRange, message: "must be at most 366 days ahead" } },
  ]);
});

test("closing a closed conversation keeps its closing time", () => {
  fc.assert(
    fc.property(standing, fc.nat(1_000), (before, later) => {
      const once = changeStatus(before, { status: "closed" }, now);
      if (once.decision !== "change") throw new Error("can always be closed");
      expect(changeStatus({ ...before, ...once.patch }, { status: "closed" }, now + later)).toEqual(
        once,
      );
    }),
  );
});

test("an inbound message continues or wakes a conversation; after the reopen window it starts a new one", () => {
  fc.assert(
    fc.property(
      standing,
      fc.integer({ min: 1, max: 100_000 }),
      fc.boolean(),
      (before, someMs, isAtTheEnd) => {
        const reopenMs = isAtTheEnd && before.closed_at !== null ? now - before.closed_at : someMs;
        const isOver = before.status === "closed" && now - (before.closed_at ?? 0) >= reopenMs;
        expect(
          effectOfInbound(before, reopenMs, now),
          "A message begins a new conversation only after the reopen window.",
        ).toBe(isOver ? "begin" : before.status === "open" ? "continue" : "wake");
      },
    ),
  );
});

test("the assignee becomes the handler; unassigned conversations of people stay in the queue", () => {
  const [human, agent] = [
    { type: "human", id: "anna" } as const,
    { type: "agent", id: "agt_1" } as const,
  ];
  const cases = (["ai", "queue", "human", "none"] as const).map((before) => [
    before,
    handlerOnAssign(before, human),
    handlerOnAssign(before, agent),
    handlerOnAssign(before, null),
    handlerOnHandBack(before, agent),
    handlerOnHandBack(before, human),
    handlerOnHandBack(before, null),
  ]);
  expect(cases).toEqual([
    ["ai", "human", "ai", "none", "ai", "ai", "ai"],
    ["queue", "human", "ai", "queue", "ai", "none", "none"],
    ["human", "human", "ai", "queue", "ai", "none", "none"],
    ["none", "human", "ai", "none", "none", "none", "none"],
  ]);
});

/** An open conversation in which the contact has written, and what differs. */
const attention = (
  differs: Partial<Attention>,
  waitingSince: number | null,
  role: MessageRole,
): readonly unknown[] => {
  const usual = {
    status: "open",
    handler: "none",
    assignee_type: null,
    contact_wrote: true,
  } as const;
  const after = attentionOf({ ...usual, ...differs }, waitingSince, role, now);
  return [after.unassigned, after.waiting_for, after.waiting_since];
};

test.each<[string, Partial<Attention>, number | null, MessageRole, readonly unknown[]]>([
  ["closed, nobody waits", { status: "closed", handler: "queue" }, 5, "asks", [null, null, null]],
  ["with an agent, nobody waits", { handler: "ai" }, 5, "asks", [null, null, null]],
  ["a first message begins a wait", {}, null, "asks", [true, "reply", now]],
  ["a second message does not begin it again", {}, 5, "asks", [true, "reply", 5]],
  ["an answer ends it", {}, 5, "answers", [true, null, null]],
  ["other changes do not end it", {}, 5, "neither", [true, "reply", 5]],
  ["other changes do not begin it", {}, null, "neither", [true, null, null]],
  ["a snooze does not end it", { status: "snoozed" }, 5, "neither", [true, "reply", 5]],
  ["a notice needs nobody", { contact_wrote: false }, null, "neither", [null, null, null]],
  [
    "a notice that people handled needs somebody",
    { contact_wrote: false, handler: "human" },
    null,
    "neither",
    [true, null, null],
  ],
  [
    "a person has it, and has not answered",
    { handler: "human", assignee_type: "human" },
    null,
    "asks",
    [null, "reply", now],
  ],
  ["an agent is no person", { assignee_type: "agent" }, null, "asks", [true, "reply", now]],
  ["a hand-off begins a wait", { handler: "queue" }, null, "neither", [true, "handoff", now]],
  ["an answer does not end a hand-off", { handler: "queue" }, 5, "answers", [true, "handoff", 5]],
])("the wait for a person: %s", (_, differs, waitingSince, role, expected) => {
  expect(attention(differs, waitingSince, role)).toEqual(expected);
});

test("what was read stays read, and a new message is unread, whatever the clocks say", () => {
  expect(readAtNow({ read_at: null, last_activity_at: now - 5 }, now)).toBe(now);
  expect(readAtNow({ read_at: null, last_activity_at: now + 5 }, now)).toBe(now + 5);
  const after = (read_at: number | null) =>
    readAtAfterMessage({ read_at, last_activity_at: 0 }, now);
  expect([null, now - 5, now, now + 5].map(after)).toEqual([null, now - 5, now - 1, now - 1]);
});
