import { describe, expect, it, test } from "vitest";
import {
  afterCall,
  afterDecisions,
  approvalMs,
  callsAfterTurn,
  finalDenials,
  firstDenialOf,
  outcomeOf,
  overdueDenials,
  withCall,
  withoutCall,
} from "../../../src/agents/runs/call-rules.ts";
import { maxKeptSteps } from "../../../src/agents/runs/rules.ts";
import type { ActionCall } from "../../../src/agents/runs/types.ts";
import { call, step } from "./sample-run.ts";

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

test("a call of a run is added once, and then replaced in its place", () => {
  const others: readonly ActionCall[] = [call, { ...call, id: "call_2" }];
  const third = { ...call, id: "call_3" };
  expect(withCall(others, third)).toEqual([...others, third]);
  const done: ActionCall = { ...call, status: "done" };
  expect(withCall(others, done)).toEqual([done, others[1]]);
});

const noWords = { input: null, output: null, error: null };

describe("a call that was recorded and then not made", () => {
  const other: ActionCall = { ...call, id: "call_2" };
  const earlier: ActionCall = { ...call, status: "approved", output: "text" };

  it("is removed, or is restored as it was before", () => {
    expect(withoutCall([call, other], call, undefined)).toEqual([other]);
    expect(withoutCall([call, other], call, earlier)).toEqual([earlier, other]);
  });

  it("is restored without words if the run was redacted since", () => {
    const redacted: ActionCall = { ...call, ...noWords, redacted: true };
    expect(withoutCall([redacted, other], call, earlier)).toEqual([
      { ...earlier, ...noWords, redacted: true },
      other,
    ]);
  });
});

describe("a call that has ended", () => {
  const ended: ActionCall = { ...call, status: "done", output: "text" };

  it("is recorded, with its step", () => {
    const other: ActionCall = { ...call, id: "call_2", redacted: true };
    expect(afterCall({ calls: [other, call], steps: [step] }, ended, step)).toEqual({
      calls: [other, ended],
      steps: [step, step],
    });
  });

  it("is recorded without words if the run was redacted during the call", () => {
    const redacted: ActionCall = { ...call, ...noWords, redacted: true };
    const other: ActionCall = { ...call, id: "call_2" };
    expect(afterCall({ calls: [other, redacted], steps: [] }, ended, step)).toEqual({
      calls: [other, { ...ended, ...noWords, redacted: true }],
      steps: [{ ...step, ...noWords }],
    });
  });

  it("leaves no step beyond the maximum", () => {
    const steps = Array.from({ length: maxKeptSteps }, () => step);
    expect(afterCall({ calls: [call], steps }, ended, { ...step, name: "last" }).steps).toEqual(
      steps,
    );
  });
});

test("only the calls that wait for an approval are left to the next turn", () => {
  const waits: ActionCall = { ...call, id: "call_2", status: "awaiting_approval" };
  const [ended, waiting] = callsAfterTurn([call, waits], now);
  expect(ended).toEqual({ ...call, turn_ended: true });
  expect(waiting).toEqual({ ...waits, approve_by: now + approvalMs });
});

test("a call that already waits keeps its deadline in the turns after the first", () => {
  const waits: ActionCall = { ...call, status: "awaiting_approval", approve_by: now };
  expect(callsAfterTurn([waits], now + minute)).toEqual([waits]);
});

describe("the model is told of a call that", () => {
  it.each<[status: ActionCall["status"], outcome: unknown]>([
    ["done", { status: "done", output: "text" }],
    ["awaiting_approval", { status: "awaiting_approval" }],
    ["pending", undefined],
    ["approved", undefined],
  ])("is %s: %o", (status, outcome) => {
    expect(outcomeOf({ ...call, status, output: "text" })).toEqual(outcome);
  });

  it.each(["failed", "denied"] as const)("is %s why it was not carried out", (status) => {
    const told = (error: string | null) => outcomeOf({ ...call, status, error });
    expect(told("No such order.")).toEqual({ status: "failed", error: "No such order." });
    expect(told(null)).toEqual({ status: "failed", error: status });
  });
});

describe("a decision about a call", () => {
  const decided = {
    type: "approval",
    name: "refund",
    input: { call_id: "call_1", author_id: "op_1" },
    output: "approve",
    error: null,
    started_at: "2026-01-01T00:00:00.000Z",
    duration_ms: 0,
  };

  it("is recorded as a step that says who decided what", () => {
    const other: ActionCall = { ...call, id: "call_2" };
    const decision = {
      call,
      decision: "approve",
      author_id: "op_1",
      error: null,
      at: now,
    } as const;
    expect(afterDecisions({ calls: [call, other], steps: [step] }, [decision])).toEqual({
      calls: [{ ...call, status: "approved" }, other],
      steps: [step, decided],
    });
  });

  it("is a denial of the calls that have waited for a day, and of no others", () => {
    const waits: ActionCall = { ...call, status: "awaiting_approval", approve_by: now };
    const later: ActionCall = { ...waits, id: "call_2", approve_by: now + 1 };
    const other: ActionCall = { ...call, id: "call_3", status: "done" };
    const calls = [waits, later, other];
    expect(firstDenialOf(calls)).toBe(now);
    expect(afterDecisions({ calls, steps: [step] }, overdueDenials(calls, now))).toEqual({
      calls: [{ ...waits, status: "denied", error: "denied" }, later, other],
      steps: [
        step,
        {
          ...decided,
          input: { call_id: "call_1", author_id: null },
          output: "deny",
          error: "approval_timeout",
        },
      ],
    });
    expect(approvalMs).toBe(24 * 60 * minute);
  });

  it("is a denial of all waiting calls when the run ends", () => {
    const waits: ActionCall = { ...call, status: "awaiting_approval", approve_by: now + 1 };
    const other: ActionCall = { ...call, id: "call_2", status: "done" };
    const calls = [waits, other];
    expect(afterDecisions({ calls, steps: [] }, finalDenials(calls, now))).toEqual({
      calls: [{ ...waits, status: "denied", error: "denied" }, other],
      steps: [
        {
          ...decided,
          input: { call_id: "call_1", author_id: null },
          output: "deny",
          error: "run_ended",
        },
      ],
    });
  });
});
