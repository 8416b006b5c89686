/** The problems that are found in the steps of a playbook, and their messages. */
import { describe, expect, it, test } from "vitest";
import { english } from "../../../adapters/language/index.ts";
import {
  callersAbove,
  callsOf,
  playbookErrors,
} from "../../../src/agents/playbooks/graph-rules.ts";
import { maxFrames } from "../../../src/agents/playbooks/play/frames.ts";
import type { PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import type { PlaybookId } from "../../../src/kernel/ids.ts";
import { definition, finderOf, idOf, slot } from "./support.ts";

const send = { id: "hello", type: "send", text: "Hello" } as const;
const ask = { id: "ask", type: "ask", slot: "a", retries: 1 } as const;
const call = (playbook_id: PlaybookId, id = "c") => ({ id, type: "call", playbook_id }) as const;

describe("the problems of a playbook", () => {
  const problemsOf = (graph: PlaybookDefinition, ...others: readonly PlaybookDefinition[]) =>
    playbookErrors(graph, (id) => finderOf(graph, ...others)(id)?.definition, english());
  const a = slot("a");

  it.each<readonly [string, PlaybookDefinition, readonly PlaybookDefinition[]]>([
    ["The playbook has no steps. Add at least one.", definition([]), []],
    [
      'An earlier step has the id "ask" too.',
      definition([send, { ...ask, next: "end" }, ask, { id: "end", type: "resolve" }], [a]),
      [],
    ],
    ['An earlier slot has the name "a" too.', definition([ask], [a, a]), []],
    ['There is no step "gone".', definition([{ ...send, next: "gone" }]), []],
    ['There is no slot "a".', definition([ask]), []],
    [
      "No other step leads to this step.",
      definition([{ id: "people", type: "handoff", reason: "Help" }, send]),
      [],
    ],
    [
      "This closes a loop without a question to the contact. Add an ask step to the loop.",
      definition([{ ...send, next: "hello" }]),
      [],
    ],
    ["There is no enabled playbook with this id.", definition([call(idOf(1))]), []],
    [
      "This call makes playbooks call each other in a circle.",
      definition([call(idOf(1))]),
      [definition([call(idOf(0))])],
    ],
    [
      `Calls may nest at most ${maxFrames} playbooks, including the first.`,
      definition([call(idOf(1))]),
      Array.from({ length: maxFrames }, (_, i) =>
        definition(i + 1 < maxFrames ? [call(idOf(i + 2))] : [send]),
      ),
    ],
  ])("say what is wrong: %s", (message, graph, others) => {
    expect(problemsOf(graph, ...others).map((each) => each.message)).toContain(message);
  });

  it("say how many enabled playbooks already call each other above one whose calls nest too deeply", () => {
    const above = maxFrames - 1;
    const calling = definition([call(idOf(1))]);
    const callable = (): PlaybookDefinition => definition([send]);
    expect(playbookErrors(calling, callable, english(), above - 1)).toEqual([]);
    expect(playbookErrors(calling, callable, english(), above)).toMatchObject([
      {
        code: "too_deep",
        message:
          `Calls may nest at most ${maxFrames} playbooks, including the first. ` +
          `Enabled playbooks already form a chain of ${above} above this one.`,
      },
    ]);
  });

  it("are at most 100", () => {
    const loops = (count: number) =>
      definition(Array.from({ length: count }, (_, i) => ({ ...send, id: `s${i}`, next: "gone" })));
    expect(problemsOf(loops(40))).toHaveLength(79);
    expect(problemsOf(loops(51))).toHaveLength(100);
  });

  it("are not those of a called playbook, which may call one that is disabled", () => {
    expect(problemsOf(definition([call(idOf(1))]), definition([call(idOf(2))]))).toEqual([]);
  });

  it("are found without following the same calls twice", () => {
    const levels = 7;
    const idAt = (level: number, place: number): PlaybookId =>
      `pb_000000000000000000000000${level}${place}`;
    const both = (level: number) =>
      definition(level < levels ? [call(idAt(level, 0), "c"), call(idAt(level, 1), "d")] : [send]);
    let asked = 0;
    const callable = (id: PlaybookId): PlaybookDefinition => {
      asked++;
      return both(Number(id.at(-2)) + 1);
    };
    expect(playbookErrors(both(0), callable, english())).toEqual([]);
    expect(asked).toBe(2 * levels + 2);
  });
});

test("a playbook that is called twice is listed once", () => {
  const [first, second] = [idOf(1), idOf(2)];
  expect(callsOf(definition([call(first), send, call(second, "d"), call(first, "e")]))).toEqual([
    first,
    second,
  ]);
});

describe("the playbooks above one", () => {
  const playbook = (n: number, ...calls: readonly number[]) => ({
    id: idOf(n),
    definition: definition([send, ...calls.map((each) => call(idOf(each), `c${each}`))]),
  });
  const above = (n: number, others: Parameters<typeof callersAbove>[1]) =>
    callersAbove(idOf(n), others).map((level) => level.map(({ id }) => id));

  it("are those that call it, then those that call these", () => {
    const others = [playbook(1, 0), playbook(2, 9, 0), playbook(3, 1), playbook(4), playbook(5, 4)];
    expect(above(0, others)).toEqual([[idOf(1), idOf(2)], [idOf(3)]]);
    expect(above(3, others)).toEqual([]);
  });

  it("end where calls could not nest more deeply, also if they form a circle", () => {
    const circle = [playbook(0, 1), playbook(1, 0)];
    expect(above(0, circle)).toEqual(
      Array.from({ length: maxFrames }, (_, i) => [idOf(i % 2 === 0 ? 1 : 0)]),
    );
  });
});
