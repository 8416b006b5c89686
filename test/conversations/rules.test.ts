import fc from "fast-check";
import { expect, test } from "vitest";
import {
  changeStatus,
  handlerOnAssign,
  handlerOnHandBack,
  maxSnoozeMs,
  receive,
} from "../../src/conversations/rules.ts";
import type { Standing } from "../../src/conversations/rules.ts";

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
      expect(change.decision === "superseded").toBe(isLate);
      const until = "snoozed_until" in wish ? wish.snoozed_until : now + 1;
      if (!isLate) {
        expect(change.decision === "invalid").toBe(until <= now || until > now + maxSnoozeMs);
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
  expect([snoozed(now), snoozed(now + 366 * day + 1)]).toMatchObject([
    { error: { pointer: "/snoozed_until", message: "must be in the future" } },
    { error: { pointer: "/snoozed_until", message: "must be at most 366 days ahead" } },
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
        expect(receive(before, reopenMs, now)).toBe(
          isOver ? "begin" : before.status === "open" ? "continue" : "wake",
        );
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
