import { describe, expect, it } from "vitest";
import {
  changedDefinition,
  playbookDefinitionOf,
} from "../../../src/agents/playbooks/definition.ts";
import type { PlaybookStep } from "../../../src/agents/playbooks/step-types.ts";

const send = { id: "hello", type: "send", text: "Hello" } as const;
const ask = { id: "ask", type: "ask", slot: "a", retries: 1 } as const;

describe("a definition", () => {
  const steps: PlaybookStep[] = [send, ask];
  const made = playbookDefinitionOf({ name: "Some", steps });

  it("has defaults, retries for questions only, and no other field that was not given", () => {
    expect(
      playbookDefinitionOf({ name: "Some", steps: [send, { ...ask, retries: undefined }] }),
    ).toStrictEqual({
      name: "Some",
      description: "",
      trigger: { priority: 0 },
      slots: [],
      steps: [send, { ...ask, retries: 2 }],
    });
  });

  it("keeps the fields that a change leaves out or sets to undefined", () => {
    const full = changedDefinition(made, { on_cancel: "ask", max_turns: 3 });
    expect(full).toStrictEqual({ ...made, on_cancel: "ask", max_turns: 3 });
    expect(changedDefinition(full, { name: undefined, description: "New" })).toEqual({
      ...full,
      description: "New",
    });
  });
});
