import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { english } from "../../../adapters/language/index.ts";
import {
  changedDefinition,
  playbookDefinitionOf,
} from "../../../src/agents/playbooks/definition.ts";
import { playbookErrors } from "../../../src/agents/playbooks/graph-rules.ts";
import { createPlaybookSchema } from "../../../src/agents/playbooks/input-types.ts";
import type { PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import { parse } from "../../../src/kernel/validation.ts";
import { nested } from "../nested.ts";
import { reschedule } from "./reschedule.ts";
import { definition, finderOf, idOf, slot } from "./support.ts";

const found = (graph: PlaybookDefinition, ...others: readonly PlaybookDefinition[]): string[] =>
  playbookErrors(graph, (id) => finderOf(graph, ...others)(id)?.definition, english()).map(
    (error) => ("pointer" in error ? `${error.pointer} ${error.code}` : "no pointer"),
  );

const send = { id: "hello", type: "send", text: "Hello" } as const;
const ask = { id: "ask", type: "ask", slot: "a", retries: 1 } as const;
const a = slot("a");

describe("a playbook can be enabled", () => {
  it("that is valid", () => {
    expect(found(reschedule)).toEqual([]);
    expect(found(definition([send, { ...ask, next: "hello" }], [a]))).toEqual([]);
    expect(
      found(definition([{ id: "c", type: "call", playbook_id: idOf(1) }]), definition([send])),
    ).toEqual([]);
  });

  it.each<readonly [string, PlaybookDefinition, string[]]>([
    ["has no steps", definition([]), ["/steps required"]],
    [
      "has an unknown next step",
      definition([{ ...send, next: "gone" }]),
      ["/steps/0/next unknown_step"],
    ],
    [
      "has an unknown on_fail step",
      definition([{ ...ask, on_fail: "gone" }], [a]),
      ["/steps/0/on_fail unknown_step"],
    ],
    [
      "has an unknown on_error step",
      definition([{ id: "r", type: "run", action: "x", args: {}, on_error: "gone" }]),
      ["/steps/0/on_error unknown_step"],
    ],
    [
      "branches to an unknown step",
      definition([send, { id: "b", type: "branch", cases: [{ when: "true", next: "hello2" }] }]),
      ["/steps/1/cases/0/next unknown_step"],
    ],
    [
      "has an unknown on_cancel step",
      definition([send], [], { on_cancel: "gone" }),
      ["/on_cancel unknown_step"],
    ],
    ["asks for an unknown slot", definition([ask]), ["/steps/0/slot unknown_slot"]],
    [
      "calls an unknown playbook",
      definition([{ id: "c", type: "call", playbook_id: idOf(7) }]),
      ["/steps/0/playbook_id unknown_playbook"],
    ],
    [
      "has an unreachable step",
      definition([{ ...send, next: "end" }, ask, { id: "end", type: "resolve" }], [a]),
      ["/steps/1 unreachable"],
    ],
    ["has two steps with the same id", definition([send, send]), ["/steps/1/id duplicate"]],
    ["has two slots with the same name", definition([ask], [a, a]), ["/slots/1/name duplicate"]],
    [
      "loops without a question",
      definition(
        [
          send,
          { ...ask, next: "more" },
          { id: "more", type: "send", text: "x" },
          { id: "back", type: "set", values: {}, next: "more" },
        ],
        [a],
      ),
      ["/steps/3/next endless_loop"],
    ],
    [
      "loops through a branch",
      definition(
        [
          { id: "b", type: "branch", cases: [{ when: "a", next: "s" }] },
          { id: "end", type: "resolve" },
          { ...send, id: "s", next: "b" },
        ],
        [a],
      ),
      ["/steps/2/next endless_loop"],
    ],
    [
      "loops through the step below",
      definition([
        { ...send, next: "b" },
        { ...send, id: "above" },
        { id: "b", type: "branch", cases: [{ when: "true", next: "above" }] },
      ]),
      ["/steps/1 endless_loop"],
    ],
    [
      "has a step that leads to itself",
      definition([{ ...send, next: "hello" }]),
      ["/steps/0/next endless_loop"],
    ],
    [
      "calls itself",
      definition([ask, { id: "c", type: "call", playbook_id: idOf(0) }], [a]),
      ["/steps/1/playbook_id endless_loop"],
    ],
    [
      "has a condition with a syntax error",
      definition(
        [
          { id: "b", type: "branch", cases: [{ when: "a = 1", next: "x" }] },
          { id: "x", type: "resolve" },
        ],
        [a],
      ),
      ["/steps/0/cases/0/when invalid_condition"],
    ],
    [
      "has a condition with an unknown name",
      definition([
        { id: "b", type: "branch", cases: [{ when: "q == 1", next: "x" }] },
        { id: "x", type: "resolve" },
      ]),
      ["/steps/0/cases/0/when unknown_name"],
    ],
    [
      "sends an unknown name",
      definition([{ ...send, text: "{{a}} {{q}} {{contact.name}}" }], [a]),
      ["/steps/0/text unknown_name"],
    ],
    [
      "has a prompt with an unknown name",
      definition([ask], [slot("a", { prompt: "{{hello.x}}?" })]),
      ["/slots/0/prompt unknown_name"],
    ],
    [
      "passes an unknown name to an action",
      definition([{ id: "r", type: "run", action: "x", args: { deep: ["", { "x/y": "{{q}}" }] } }]),
      ["/steps/0/args/deep/1/x~1y unknown_name"],
    ],
    [
      "has an invalid template",
      definition([{ ...send, text: "{{#if a}}" }], [a]),
      ["/steps/0/text invalid_template"],
    ],
    [
      "sets an unknown slot",
      definition([{ id: "s", type: "set", values: { q: 1 } }]),
      ["/steps/0/values/q unknown_slot"],
    ],
    [
      "sets an invalid value",
      definition(
        [{ id: "s", type: "set", values: { a: "many", b: null, c: "{{b}}" } }],
        ["a", "b", "c"].map((name) => slot(name, { type: "number" })),
      ),
      ["/steps/0/values/a invalid_value"],
    ],
  ])("unless it %s", (_, graph, errors) => {
    expect(found(graph)).toEqual(errors);
  });

  it("unless its calls form a loop or nest too deeply", () => {
    const calling = (place: number): PlaybookDefinition =>
      definition([{ id: "c", type: "call", playbook_id: idOf(place) }]);
    expect(found(calling(1), calling(2), calling(0))).toEqual([
      "/steps/0/playbook_id endless_loop",
    ]);
    expect(found(calling(1), calling(2), calling(1))).toEqual([
      "/steps/0/playbook_id endless_loop",
    ]);
    const chain = [1, 2, 3, 4, 5, 6, 7].map(calling);
    expect(found(calling(1), ...chain.slice(1), definition([send]))).toEqual([]);
    expect(found(calling(1), ...chain.slice(1), calling(8), definition([send]))).toEqual([
      "/steps/0/playbook_id too_deep",
    ]);
  });
});

describe("the input of a playbook", () => {
  const given = { name: "Some", steps: [{ id: "a", type: "ask", slot: "x" }] };
  const errorsOf = (more: object): unknown => {
    try {
      return parse(createPlaybookSchema, { ...given, ...more });
    } catch (error) {
      return (error as { errors: unknown }).errors;
    }
  };

  it("gets defaults, and updates change single fields", () => {
    const made = playbookDefinitionOf(parse(createPlaybookSchema, given));
    expect(made).toEqual({
      name: "Some",
      description: "",
      trigger: { priority: 0 },
      slots: [],
      steps: [{ id: "a", type: "ask", slot: "x", retries: 2 }],
    });
    const changed = changedDefinition(made, {
      enabled: true,
      trigger: { keywords: ["x"] },
      on_cancel: "a",
      max_turns: 3,
    });
    expect(changed).toEqual({
      ...made,
      trigger: { keywords: ["x"], priority: 0 },
      on_cancel: "a",
      max_turns: 3,
    });
    expect(changedDefinition(changed, { on_cancel: null })).toEqual({
      ...made,
      trigger: { keywords: ["x"], priority: 0 },
      max_turns: 3,
    });
  });

  it.each([
    [{ slots: [slot("a", { pattern: "(a+)+" })] }, "/slots/0/pattern"],
    [{ slots: [slot("a", { pattern: "[" })] }, "/slots/0/pattern"],
    [{ slots: [slot("a", { pattern: "a", type: "number" })] }, "/slots/0/type"],
    [{ slots: [slot("a", { enum: ["x", "X "] })] }, "/slots/0/enum"],
    [{ slots: [slot("contact")] }, "/slots/0/name"],
    [{ slots: [slot("a.b")] }, "/slots/0/name"],
    [{ slots: Array.from({ length: 51 }, (_, i) => slot(`a${i}`)) }, "/slots"],
    [
      { steps: Array.from({ length: 101 }, (_, i) => ({ id: `a${i}`, type: "resolve" })) },
      "/steps",
    ],
    [{ steps: [{ id: "a", type: "set", values: { x: "y".repeat(10_001) } }] }, "/steps/0/values"],
    [{ steps: [{ id: "a", type: "handoff", reason: " " }] }, "/steps/0/reason"],
    [{ steps: [{ id: "a", type: "resolve", next: "b" }] }, "/steps/0/next"],
    [{ steps: [{ id: "a", type: "dance" }] }, "/steps/0/type"],
  ])("is rejected if it is invalid: %j", (more, pointer) => {
    expect(errorsOf(more)).toEqual([expect.objectContaining({ pointer })]);
  });

  it.each([101, 100_000])("is rejected if a value has %i levels", (levels) => {
    const steps = [{ id: "a", type: "set", values: { x: nested(levels) } }];
    const pointer = "/steps/0/values/x";
    expect(errorsOf({ steps })).toEqual([expect.objectContaining({ pointer, code: "too_deep" })]);
  });

  it.each([
    [[1, { y: Infinity }], "/1/y"],
    [{ y: [undefined] }, "/y/0"],
    [{ y: new Date(0) }, "/y"],
    [() => 1, ""],
    [Object.assign([], { length: 1 }), "/0"],
    [JSON.parse('{"__proto__":1}'), "/__proto__"],
  ])("is rejected if a value is no JSON: %j", (x, place) => {
    const steps = [{ id: "a", type: "set", values: { x } }];
    const pointer = `/steps/0/values/x${place}`;
    expect(errorsOf({ steps })).toEqual([expect.objectContaining({ pointer })]);
  });

  it("can have values of another realm", () => {
    const x: unknown = runInNewContext("({ y: [{ z: 1 }] })");
    const steps = [{ id: "a", type: "set", values: { x } }];
    expect(parse(createPlaybookSchema, { name: "a", steps }).steps).toEqual([
      { id: "a", type: "set", values: { x: { y: [{ z: 1 }] } } },
    ]);
  });

  it("keeps its own copy of the values of its steps", () => {
    const list = [{ y: 1 }];
    const before = { name: "a", steps: [{ id: "a", type: "set", values: { x: { list } } }] };
    const parsed = parse(createPlaybookSchema, before);
    list[0] = { y: 2 };
    list.push({ y: 3 });
    expect(parsed.steps).toEqual([{ id: "a", type: "set", values: { x: { list: [{ y: 1 }] } } }]);
  });
});
