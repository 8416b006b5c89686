import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { playbookByKeywords } from "../../../src/agents/playbooks/play/trigger-rules.ts";
import { defaultAgent } from "../../../src/agents/types.ts";
import type { ModelAnswer } from "../../../src/ports/agent-model.ts";
import { agency, survey } from "../world.ts";
import { definition } from "./support.ts";

describe("keywords", () => {
  const playbook = (keywords: string[], priority = 0) => ({
    definition: definition([], [], { trigger: { keywords, priority } }),
  });
  const low = playbook(["move", "appointment"]);
  const high = playbook(["réschedule", "change my time"], 5);
  const later = playbook(["move", "予約"]);
  const without = { definition: definition([]) };

  it.each([
    ["Can I MOVE my visit?", low],
    ["Reschedule my appointment", high],
    ["please change  my-time", high],
    ["I removed it", undefined],
    ["来週の予約したい", later],
    ["change her time", undefined],
    ["", undefined],
  ])("match whole words, and the highest priority wins: %s", (said, started) => {
    expect(playbookByKeywords([without, low, later, high], said)).toBe(started);
  });

  it("are looked for in the first 4,000 characters", () => {
    const said = (before: number) => `${" ".repeat(before)}move`;
    expect(playbookByKeywords([low], said(3_996))).toBe(low);
    expect(playbookByKeywords([low], said(3_997))).toBeUndefined();
  });
});

describe("an intent that the model recognizes", () => {
  const move = { ...survey, name: "Move", trigger: { intents: ["move"] } };
  const [question] = survey.slots;

  it.each<[string, ModelAnswer, string | undefined]>([
    ["starts its playbook", { intent: "move", confidence: 0.9 }, question?.prompt],
    ["does not, if the model replies", { intent: "move", text: "Of course." }, "Of course."],
    ["does not, if no playbook has it", { intent: "pay" }, defaultAgent.fallback_text],
  ])("%s", async (_, answer, told) => {
    const { ask } = await agency(memory(), { playbooks: [move], model: () => answer });
    expect(await ask("Could we do another day?")).toEqual([told]);
  });

  it("starts no other playbook while one is in progress", async () => {
    const { ask } = await agency(memory(), {
      playbooks: [survey, move],
      model: () => ({ intent: "move" }),
    });
    await ask("survey");
    expect(await ask("Could we do another day?")).toEqual([question?.prompt]);
    expect(await ask("4")).toEqual(["Thank you for the 4."]);
  });
});
