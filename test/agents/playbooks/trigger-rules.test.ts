import { describe, expect, it } from "vitest";
import { triggeredPlaybook } from "../../../src/agents/playbooks/play/trigger-rules.ts";
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
    expect(triggeredPlaybook([without, low, later, high], said)).toBe(started);
  });

  it("are looked for in the first 4,000 characters", () => {
    const said = (before: number) => `${" ".repeat(before)}move`;
    expect(triggeredPlaybook([low], said(3_996))).toBe(low);
    expect(triggeredPlaybook([low], said(3_997))).toBeUndefined();
  });
});
