/** The rules of runs, as functions. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  answersMessages,
  approvalMs,
  approvalStep,
  callsAfterTurn,
  concludedSteps,
  denyOverdueCalls,
  firstDenialOf,
  maxHistory,
  maxOpenRuns,
  maxUnanswered,
  mayQuote,
  mayReplyAt,
  playMayQuote,
  redactedRun,
  turnJob,
  withCall,
  withinLastMinute,
} from "../../src/agents/runs/rules.ts";
import type { RunStep } from "../../src/agents/runs/step-types.ts";
import type { ActionCall } from "../../src/agents/runs/types.ts";
import { act, type ModelResult, think } from "../../src/agents/turns/moves.ts";
import { queueTimeoutJob } from "../../src/conversations/write.ts";
import { frame } from "./sample-frame.ts";

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

const call: ActionCall = {
  id: "call_1",
  action: "refund",
  input: { n: 1 },
  status: "pending",
  output: null,
  error: null,
};
const step: RunStep = {
  type: "model",
  name: "answer",
  input: "in",
  output: "out",
  error: "slow",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 5,
};

describe("a turn", () => {
  const outcome = { status: "done", output: 1 } as const;
  const thought: ModelResult = { done: "thought", answer: { text: "Yes" }, failure: null };

  it("calls an action for the host application, unless it says that the model calls", () => {
    const move = { do: "act", action: "refund", input: { n: 1 } };
    expect(act("refund", { n: 1 }).next().value).toEqual({ ...move, by: "host" });
    const calling = act("refund", { n: 1 }, "model");
    expect(calling.next().value).toEqual({ ...move, by: "model" });
    expect(calling.next({ done: "acted", outcome })).toEqual({ done: true, value: outcome });
  });

  it("asks the model, which by default may do nothing but answer", () => {
    const task = { type: "answer" } as const;
    const asking = think(task);
    expect(asking.next().value).toEqual({
      do: "think",
      task,
      mayCallActions: false,
      mayStartPlaybook: false,
    });
    expect(asking.next(thought)).toEqual({ done: true, value: thought });
    expect(think(task, { mayCallActions: true, mayStartPlaybook: true }).next().value).toEqual({
      do: "think",
      task,
      mayCallActions: true,
      mayStartPlaybook: true,
    });
  });

  it("refuses the result of another move", () => {
    const acting = act("refund", null);
    acting.next();
    expect(() => acting.next(thought)).toThrow("the result of an action was expected");
    const thinking = think({ type: "answer" });
    thinking.next();
    expect(() => thinking.next({ done: "acted", outcome })).toThrow(
      "the answer of a model was expected",
    );
  });
});

test("a conversation has one job for turns, in the account's lane, and one for its queue", () => {
  const scope = { account_id: "acct_1", mode: "live" } as const;
  const key = { conversation_id: "conv_1" } as const;
  const conversation = { ...scope, id: key.conversation_id };
  expect(turnJob(conversation, now)).toEqual({
    kind: "turn",
    key,
    ...scope,
    lane: { kind: "turn", slow: false, ...scope },
    due_at: now,
  });
  expect(queueTimeoutJob(conversation, now)).toEqual({
    kind: "queue-timeout",
    key,
    ...scope,
    lane: { kind: "queue-timeout", slow: false },
    due_at: now,
  });
});

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
    expect(withinLastMinute([now - minute, now - minute + 1, now], now)).toEqual([
      now - minute + 1,
      now,
    ]);
  });
});

test("a run that was triggered, or continues after an approval, answers no messages", () => {
  const request = { type: "action", action: "refund", input: null } as const;
  expect(answersMessages({ request: null, resumed: false })).toBe(true);
  expect(answersMessages({ request, resumed: false })).toBe(false);
  expect(answersMessages({ request: null, resumed: true })).toBe(false);
});

test("a call of a run is added once, and then replaced in its place", () => {
  const others: readonly ActionCall[] = [call, { ...call, id: "call_2" }];
  const third = { ...call, id: "call_3" };
  expect(withCall(others, third)).toEqual([...others, third]);
  const done: ActionCall = { ...call, status: "done" };
  expect(withCall(others, done)).toEqual([done, others[1]]);
});

test("a turn that ends leaves the next one only the calls that wait for an approval", () => {
  const waits: ActionCall = { ...call, id: "call_2", status: "awaiting_approval" };
  const [ended, waiting] = callsAfterTurn([call, waits], now);
  expect(ended).toEqual({ ...call, turn_ended: true });
  expect(waiting).toEqual({ ...waits, approve_by: now + approvalMs });
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

  it("is a step of the run, with who decided what", () => {
    expect(approvalStep(call, { decision: "approve", author_id: "op_1", at: now })).toEqual(
      decided,
    );
  });

  it("that nobody made within a day denies the calls that have waited so long, and no others", () => {
    const waits: ActionCall = { ...call, status: "awaiting_approval", approve_by: now };
    const later: ActionCall = { ...waits, id: "call_2", approve_by: now + 1 };
    const other: ActionCall = { ...call, id: "call_3", status: "done" };
    const calls = [waits, later, other];
    expect(firstDenialOf(calls)).toBe(now);
    expect(denyOverdueCalls({ calls, steps: [step] }, now)).toEqual({
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

test("a run may quote what it answers, and the last 30 messages before it ended", () => {
  const run = { message_ids: [], heard_through: 100, playbook_id: null, finished_at: now };
  const message = { id: "msg_1", sequence: 100, created_at: now } as const;
  const quotes = (differs: { readonly sequence?: number; readonly created_at?: number }): boolean =>
    mayQuote(run, { ...message, ...differs });
  expect(maxHistory).toBe(30);
  expect(maxOpenRuns).toBe(50);
  expect(quotes({}), "It read the message.").toBe(true);
  expect(quotes({ sequence: 71 }), "It read the last 30.").toBe(true);
  expect(quotes({ sequence: 70 }), "It did not read the one before.").toBe(false);
  expect(quotes({ sequence: 101 }), "It may have read a later one.").toBe(true);
  expect(quotes({ created_at: now + 1 }), "It had ended.").toBe(false);
  const later = { ...message, created_at: now + 1 };
  expect(mayQuote({ ...run, finished_at: null }, later), "It has not ended.").toBe(true);
  const early = { ...message, sequence: 1 };
  const answers = { ...run, message_ids: ["msg_0" as const, early.id] };
  expect(mayQuote(answers, early), "It answers the message.").toBe(true);
});

test("a run of a playbook may quote all messages before it ended", () => {
  const playbook_id = "pb_1" as const;
  const run = { message_ids: [], heard_through: 100, playbook_id, finished_at: now };
  const message = { id: "msg_1", sequence: 1, created_at: now } as const;
  expect(mayQuote(run, message), "A slot may have the words.").toBe(true);
  const later = { ...message, created_at: now + 1 };
  expect(mayQuote(run, later), "It had ended.").toBe(false);
  expect(mayQuote({ ...run, finished_at: null }, later), "It has not ended.").toBe(true);
});

test("a playbook in progress may quote what the agent has read since it got the conversation", () => {
  const session = { frames: [frame], guarded_from: 100, updated_at: now };
  const message = { sequence: 101, created_at: now };
  expect(maxUnanswered).toBe(50);
  expect(playMayQuote(session, message), "It answered the message.").toBe(true);
  expect(playMayQuote(session, { ...message, sequence: 51 }), "It answered the 50.").toBe(true);
  expect(playMayQuote(session, { ...message, sequence: 50 }), "It read none before.").toBe(false);
  const later = { ...message, created_at: now + 1 };
  expect(playMayQuote(session, later), "It had no turn since.").toBe(false);
  expect(playMayQuote({ ...session, frames: [] }, message), "None is in progress.").toBe(false);
});

test("a redacted run keeps what was done and when, without the words", () => {
  const done: ActionCall = { ...call, status: "failed", output: "text", error: "text" };
  expect(redactedRun({ steps: [step], calls: [done] })).toEqual({
    steps: [{ ...step, input: null, output: null, error: null }],
    calls: [{ ...done, input: null, output: null, error: null, redacted: true }],
    result: null,
  });
});
