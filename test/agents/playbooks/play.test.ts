import fc from "fast-check";
import { expect, it } from "vitest";
import type { MoveResult } from "../../../src/agents/moves.ts";
import { playbookErrors } from "../../../src/agents/playbooks/graph-rules.ts";
import { beginFrame, type Frame } from "../../../src/agents/playbooks/play/frames.ts";
import { play } from "../../../src/agents/playbooks/play/play.ts";
import type { PlaybookStep } from "../../../src/agents/playbooks/step-types.ts";
import type { PinnedPlaybook, PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import { playbookStepOutcomes } from "../../../src/agents/runs/step-types.ts";
import type { PlaybookId } from "../../../src/kernel/ids.ts";
import { runs } from "../../support/runs.ts";
import { pathFaults } from "./path.ts";
import { definition, finderOf, idOf, most, recordOf, run, slot, type World } from "./support.ts";

const slots = [
  slot("a"),
  slot("b", { type: "number" }),
  slot("c", { type: "boolean", required: false }),
  slot("d", { enum: ["yes", "no"] }),
];
const slotName = fc.constantFrom("a", "b", "c", "d");
const ids = ["s0", "s1", "s2", "s3", "s4", "s5", "s6"];
const target = fc.constantFrom(...ids);
const when = fc.constantFrom('a == "yes"', "b > 1", "c", "not d", "s1.x == true", "true", "false");

/** A step at a position. It leads to later steps more often than to earlier ones. */
function stepAt(place: number, callees: readonly number[]): fc.Arbitrary<PlaybookStep> {
  const id = ids[place] ?? "";
  const later = ids.slice(place + 1);
  const next = fc.option(
    fc.oneof(
      { weight: 3, arbitrary: later.length > 0 ? fc.constantFrom(...later) : target },
      target,
    ),
    {
      nil: undefined,
      freq: 2,
    },
  );
  const text = fc.constantFrom("x", "{{a}} {{contact.name}}", "{{b}}");
  const steps: fc.Arbitrary<PlaybookStep>[] = [
    fc.record({ id: fc.constant(id), type: fc.constant("send" as const), text, next }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant("ask" as const),
      slot: slotName,
      retries: fc.nat(2),
      on_fail: fc.option(target, { nil: undefined }),
      next,
    }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant("ask" as const),
      slot: slotName,
      retries: fc.nat(1),
      next,
    }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant("set" as const),
      values: fc.constantFrom({ a: "{{b}}" }, { b: null }, { b: 2, c: true }, { d: "{{a}}" }),
      next,
    }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant("run" as const),
      action: fc.constant("x"),
      args: fc.constant({ a: "{{a}}" }),
      on_error: fc.option(target, { nil: undefined }),
      next,
    }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant("branch" as const),
      cases: fc.array(fc.record({ when, next: target }), { minLength: 1, maxLength: 2 }),
      next,
    }),
    fc.record({ id: fc.constant(id), type: fc.constant("instruct" as const), text, next }),
    fc.constant({ id, type: "handoff" as const, reason: "{{a}}" }),
    fc.constant({ id, type: "resolve" as const }),
  ];
  const calls = callees.map((callee) =>
    fc.record({
      id: fc.constant(id),
      type: fc.constant("call" as const),
      playbook_id: fc.constant(idOf(callee)),
      next,
    }),
  );
  return fc.oneof(...steps, ...calls);
}

function graphOf(callees: readonly number[]): fc.Arbitrary<PlaybookDefinition> {
  return fc
    .tuple(...ids.map((_, place) => stepAt(place, callees)), fc.option(target, { nil: undefined }))
    .map((all) => [all.slice(0, -1) as PlaybookStep[], all.at(-1) as string | undefined] as const)
    .map(([steps, on_cancel]) => trimmed(steps, on_cancel));
}

/** The graph without unreachable steps and unknown names. */
function trimmed(
  steps: readonly PlaybookStep[],
  on_cancel: string | undefined,
): PlaybookDefinition {
  const graph = definition(steps, slots, on_cancel === undefined ? {} : { on_cancel });
  const errors = playbookErrors(graph, () => graph, most.language).filter(
    ({ code }) => code === "unreachable",
  );
  const gone = new Set(errors.map((error) => ("pointer" in error ? error.pointer : "")));
  const left = steps.filter((_, place) => !gone.has(`/steps/${place}`));
  if (left.length < steps.length) return trimmed(left, on_cancel);
  if (steps.some(({ id, type }) => id === "s1" && type === "run")) return graph;
  const told = JSON.stringify(graph).replaceAll("s1.x == true", "c");
  return JSON.parse(told) as PlaybookDefinition;
}

const graphs = fc.tuple(graphOf([1, 2]), graphOf([2]), graphOf([]));

const given = fc.record({
  acted: fc.constantFrom<MoveResult>(
    { done: "acted", outcome: { status: "done", output: { x: true, y: ["z"] } } },
    { done: "acted", outcome: { status: "done", output: null } },
    { done: "acted", outcome: { status: "failed", error: "no" } },
    { done: "acted", outcome: { status: "awaiting_approval" } },
  ),
  thought: fc.constantFrom<MoveResult>(
    { done: "thought", answer: null, failure: "model_error" },
    {
      done: "thought",
      answer: { text: "I think", slots: { a: "x", b: 3, c: "no" } },
      failure: null,
    },
    { done: "thought", answer: { text: " ", slots: { d: "YES" } }, failure: null },
  ),
});
const worlds = fc.array(given, { minLength: 1, maxLength: 6 });
const said = fc.array(fc.constantFrom("yes", "no", "3", "well", "cancel", "skip", ""), {
  minLength: 1,
  maxLength: 8,
});

function worldOf(
  givens: readonly { readonly acted: MoveResult; readonly thought: MoveResult }[],
): World {
  let count = 0;
  return ({ do: what }) => {
    const all = givens[count++ % givens.length];
    if (all === undefined) throw new TypeError("there is always something given");
    return what === "act" ? all.acted : all.thought;
  };
}

/** The maximum number of steps without waiting: all steps once between two skipped questions. */
function bound({ steps }: PlaybookDefinition, callees: readonly PlaybookDefinition[]): number {
  const asks = steps.filter(({ type }) => type === "ask").length;
  const once = steps.map((step) => {
    const called = step.type === "call" ? callees[Number(step.playbook_id.slice(-1))] : undefined;
    return 1 + (called === undefined ? 0 : bound(called, callees));
  });
  return (asks + 1) * once.reduce((sum, each) => sum + each, 0);
}

it("a valid playbook asks, waits or ends within its bound for all inputs and outcomes", () => {
  let accepted = 0;
  let refusedForLoops = 0;
  fc.assert(
    fc.property(graphs, worlds, said, (all, givens, says) => {
      const findPlaybook = finderOf(...all);
      const errors = all.flatMap((graph) =>
        playbookErrors(graph, (id) => findPlaybook(id)?.definition, most.language),
      );
      if (errors.length > 0) {
        // These graphs have no other errors than loops.
        expect(errors.map(({ code }) => code)).toEqual(errors.map(() => "endless_loop"));
        refusedForLoops++;
        return;
      }
      accepted++;
      const world = worldOf(givens);
      // Times three, because the frames of callers may be between questions, too.
      const maxSteps = 3 * Math.max(...all.map((graph) => bound(graph, all)));
      let frames: readonly Frame[] = [
        beginFrame(findPlaybook(idOf(0)) as PinnedPlaybook, { a: "x" }, most),
      ];
      let end = "begins";
      for (const text of [null, ...says]) {
        const { played } = run(
          play(frames, end === "waits" ? null : text, { ...most, findPlaybook, maxSteps }),
          world,
        );
        expect([JSON.stringify(all.map((each) => each.steps)), played.end]).not.toEqual([
          expect.anything(),
          expect.objectContaining({ cause: "guardrail" }),
        ]);
        expect(
          played.frames.length > 0,
          `Frames stay open exactly while a playbook waits: it ended with ${played.end.type}.`,
        ).toBe(played.end.type === "asks" || played.end.type === "waits");
        frames = played.frames;
        end = played.end.type;
        if (frames.length === 0) return;
      }
    }),
    { numRuns: 600 },
  );
  expect([accepted > 100, refusedForLoops > 30]).toEqual([true, true]);
});

/** The outcomes with which a turn ends and a playbook does not. */
const waiting = new Set<unknown>(["asked", "asked_again", "awaiting_approval", "called"]);

it("the recorded steps are a path of the graphs, which ends where the playbook waits", () => {
  const met = new Set<unknown>();
  fc.assert(
    fc.property(graphs, worlds, said, fc.constantFrom(5, 100), (all, givens, says, maxSteps) => {
      const findPlaybook = finderOf(...all);
      const world = worldOf(givens);
      let frames: readonly Frame[] = [
        beginFrame(findPlaybook(idOf(0)) as PinnedPlaybook, {}, most),
      ];
      for (const text of [null, ...says]) {
        const before = frames.map(({ step }) => step);
        const { played, path } = run(
          play(frames, text, { ...most, findPlaybook, maxSteps }),
          world,
        );
        const recorded = recordOf(path);
        expect(pathFaults(recorded, (id) => findPlaybook(id as PlaybookId)?.definition)).toEqual(
          [],
        );
        // The turn begins where the last one ended.
        expect(recorded.slice(0, before.length).map(({ name }) => name)).toEqual(before);
        const waits = recorded.filter(({ playbook }) => waiting.has(playbook?.outcome));
        expect(waits.map(({ name }) => name)).toEqual(played.frames.map(({ step }) => step));
        for (const { playbook } of recorded) met.add(playbook?.outcome);
        frames = played.frames;
        if (frames.length === 0) return;
      }
    }),
    { numRuns: 600 },
  );
  // The graphs, answers and results have led to every outcome.
  expect(met).toEqual(new Set(playbookStepOutcomes));
});

it("a playbook with a loop is stopped at its bound", () => {
  const loop = definition([{ id: "s", type: "send", text: "x", next: "s" }]);
  const findPlaybook = finderOf(loop);
  const { played } = run(
    play([beginFrame(findPlaybook(idOf(0)) as PinnedPlaybook, {}, most)], null, {
      ...most,
      findPlaybook,
    }),
    worldOf([]),
  );
  expect(played.end).toMatchObject({ type: "stuck", cause: "guardrail" });
  expect(played.texts).toHaveLength(most.maxSteps);
});

it("a replay with the same results makes the same moves and ends the same", () => {
  fc.assert(
    fc.property(graphs, worlds, said, (all, givens, says) => {
      const findPlaybook = finderOf(...all);
      let frames: readonly Frame[] = [
        beginFrame(findPlaybook(idOf(0)) as PinnedPlaybook, {}, most),
      ];
      for (const text of [null, ...says]) {
        const kept: MoveResult[] = [];
        const before = JSON.stringify(frames);
        const world = worldOf(givens);
        const first = run(play(frames, text, { ...most, findPlaybook }), (move) => {
          const answer = world(move);
          kept.push(answer);
          return answer;
        });
        const copy = JSON.parse(before) as Frame[];
        const again = run(
          play(copy, text, { ...most, findPlaybook }),
          () => kept.shift() as MoveResult,
        );
        expect(again).toEqual(first);
        expect(
          JSON.stringify(frames),
          "Playing does not change the frames that it began with.",
        ).toBe(before);
        frames = first.played.frames;
        if (frames.length === 0) return;
      }
    }),
    { numRuns: runs(300) },
  );
});

it("the pointer of every graph error exists in the graph", () => {
  const wild = graphs.chain(([graph]) =>
    fc.tuple(
      fc.constant(graph),
      fc.array(fc.nat(20), { maxLength: 3 }),
      fc.constantFrom("next", "slot", "id", "text", "on_fail", "action"),
    ),
  );
  fc.assert(
    fc.property(wild, ([graph, places, field]) => {
      const steps = graph.steps.map((step, place) =>
        places.includes(place) && field in step ? { ...step, [field]: "{{nobody}}" } : step,
      );
      for (const error of playbookErrors(
        { ...graph, steps, on_cancel: "gone" },
        () => undefined,
        most.language,
      )) {
        let at: unknown = { ...graph, steps, on_cancel: "gone" };
        for (const part of (error.pointer ?? "/none").split("/").slice(1)) {
          at = (at as Record<string, unknown>)[part];
        }
        expect([error, at]).not.toEqual([error, undefined]);
      }
    }),
    { numRuns: 300 },
  );
});
