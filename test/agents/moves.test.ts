import { describe, expect, it } from "vitest";
import { act, settle, think, type ModelResult } from "../../src/agents/moves.ts";
import type { ActionCall } from "../../src/agents/runs/types.ts";
import { call } from "./runs/sample-run.ts";

describe("a move", () => {
  const outcome = { status: "done", output: 1 } as const;
  const thought: ModelResult = { done: "thought", answer: { text: "Yes" }, failure: null };

  it("calls an action for the host application, unless the model calls it", () => {
    const move = { do: "act", action: "refund", input: { n: 1 } };
    expect(act("refund", { n: 1 }).next().value).toEqual({ ...move, by: "host" });
    const calling = act("refund", { n: 1 }, "model");
    expect(calling.next().value).toEqual({ ...move, by: "model" });
    expect(calling.next({ done: "acted", outcome })).toEqual({ done: true, value: outcome });
  });

  it("asks the model, which may only answer by default", () => {
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

  it("settles earlier calls, and returns those that failed", () => {
    const settling = settle();
    expect(settling.next().value).toEqual({ do: "settle" });
    const failed: ActionCall = { ...call, status: "failed" };
    const calls: readonly ActionCall[] = [{ ...call, id: "call_2", status: "done" }, failed];
    expect(settling.next({ done: "settled", calls })).toEqual({ done: true, value: [failed] });
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
    const settling = settle();
    settling.next();
    expect(() => settling.next(thought)).toThrow("the settled calls were expected");
  });
});
