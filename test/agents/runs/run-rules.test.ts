import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { afterDecisions, finalDenials } from "../../../src/agents/runs/call-rules.ts";
import {
  answersMessages,
  concludedSteps,
  keptSteps,
  mayReplyAt,
} from "../../../src/agents/runs/rules.ts";
import type { RunStep } from "../../../src/agents/runs/step-types.ts";
import type { ActionCall } from "../../../src/agents/runs/types.ts";
import { call, step } from "./sample-run.ts";

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

describe("no minute has more than the limit", () => {
  const steps = fc.array(fc.constantFrom(0, 1, 9_999, 29_999, 30_000, minute - 1, minute), {
    minLength: 1,
    maxLength: 30,
  });
  const max = fc.integer({ min: 1, max: 4 });

  it("of replies, and a reply waits no longer than that needs", () => {
    fc.assert(
      fc.property(steps, max, (pauses, limit) => {
        let at = now;
        const replies: number[] = [];
        for (const pause of pauses) {
          at += pause;
          const next = mayReplyAt(replies, limit, at);
          const inMinute = (time: number) => replies.filter((each) => each > time - minute).length;
          expect(inMinute(next), "A reply that was allowed exceeds the limit.").toBeLessThan(limit);
          expect(
            next === at || inMinute(next - 1) >= limit,
            "A reply waits although the limit allows it.",
          ).toBe(true);
          at = Math.max(at, next);
          replies.push(at);
        }
      }),
    );
    expect(mayReplyAt([now + 1], 1, now), "A reply in the future does not count.").toBe(now);
  });
});

test("a run that was triggered, or continues after an approval, answers no messages", () => {
  const request = { type: "action", action: "refund", input: null } as const;
  expect(answersMessages({ request: null, resumed: false })).toBe(true);
  expect(answersMessages({ request, resumed: false })).toBe(false);
  expect(answersMessages({ request: null, resumed: true })).toBe(false);
});

test("a run keeps 200 steps: the latest are dropped, except decisions about approvals", () => {
  const of = (type: string, name: string): RunStep => ({ ...step, type, name });
  const steps = Array.from({ length: 200 }, (_, i) => of("model", `${i}`));
  expect(keptSteps(steps)).toEqual(steps);
  const calls = ["call_1", "call_2"].map((id): ActionCall => ({
    ...call,
    id,
    status: "awaiting_approval",
  }));
  const denied = afterDecisions({ calls, steps }, finalDenials(calls, now)).steps;
  expect(denied.map(({ type }) => type)).toEqual([
    ...Array.from({ length: 198 }, () => "model"),
    "approval",
    "approval",
  ]);
  expect(denied.slice(0, 198)).toEqual(steps.slice(0, 198));
  expect(keptSteps([...denied, of("model", "200")])).toEqual(denied);
});

test("a turn that did not conclude leaves no path, but that before an approval stays", () => {
  const of = (type: string, name: string): RunStep => ({ ...step, type, name });
  const [first, model] = [of("playbook", "first"), of("model", "answer")];
  const [approval, second] = [of("approval", "refund"), of("playbook", "second")];
  expect(concludedSteps([first, model, second])).toEqual([model]);
  expect(concludedSteps([first, model, approval, second, model])).toEqual([
    first,
    model,
    approval,
    model,
  ]);
  const twice = [first, approval, second, approval];
  expect(concludedSteps([...twice, first])).toEqual(twice);
});
