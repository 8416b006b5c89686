/** How the texts of a turn become one reply within the agent's limit. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../../adapters/storage/memory/index.ts";
import { replyOf } from "../../../../src/agents/turns/decision/reply-text.ts";
import { defaultAgent, type AgentDefinition } from "../../../../src/agents/types.ts";
import { actionOf } from "../../actions.ts";
import { agency, survey } from "../../world.ts";

const max_chars = 120;
const long = "We open at nine and close at five. ".repeat(4).trim();
const question = "From 1 to 5?";

function agentWith(signature?: string): AgentDefinition {
  const reply = {
    ...defaultAgent.reply,
    max_chars,
    ...(signature === undefined ? {} : { signature }),
  };
  return { ...defaultAgent, name: "Ada", channels: ["sms"], reply };
}

test("a reply is within the limit, and ends with the last text if that fits by itself", () => {
  const words = fc.string({
    unit: fc.constantFrom("a", "é", "😀", " ", ".", "\n"),
    maxLength: 200,
  });
  fc.assert(
    fc.property(
      fc.array(words),
      words,
      fc.option(fc.string({ maxLength: 40 })),
      (texts, last, by) => {
        const signature = by?.trim() === "" ? null : by;
        const reply = replyOf(agentWith(signature ?? undefined), "webchat", texts, last);
        if (reply === null) {
          expect(`${texts.join("")}${last}`.trim(), "Only blank texts make no reply.").toBe("");
          return;
        }
        expect([...reply].length, "A reply is within the limit.").toBeLessThanOrEqual(max_chars);
        const end = [last.trim(), ...(signature === null ? [] : [signature])].join("\n");
        if ([...end].length <= max_chars) {
          expect(reply.endsWith(end), "A last text that fits stays.").toBe(true);
        }
      },
    ),
  );
});

test("a text that shows nothing makes no reply, and one that shows a sign does", () => {
  const invisible = ["\u200B", "\u00AD \u2060", "\u{E0041}\n", "\u3164", "\uFE0F", "\u0007"];
  for (const text of invisible) {
    expect([text, replyOf(agentWith("Ada"), "sms", [text], text)]).toEqual([text, null]);
    expect(replyOf(agentWith(), "sms", [text], question)).toBe(question);
  }
  for (const text of ["👍", "?", "✔\uFE0F", "ى", "\u0301", "1\uFE0F\u20E3"]) {
    expect(replyOf(agentWith(), "sms", [text])).toBe(text);
  }
});

test("a long answer in between does not cut off the playbook's question", async () => {
  const { ask } = await agency(memory(), {
    model: () => ({ text: long }),
    agent: { reply: { max_chars } },
    playbooks: [survey],
  });
  await ask("The survey, please");
  const [reply] = await ask("When do you open?");
  expect(reply).toMatch(/^We open at nine and close at five\. .*\n\nFrom 1 to 5\?$/);
});

test.each<
  [string, { readonly type: "ask"; readonly slot: "mark" } | { readonly type: "run" }, string]
>([
  ["the question that follows", { type: "ask", slot: "mark" }, question],
  ["the text of a hand-off", { type: "run" }, defaultAgent.handoff.message ?? ""],
])("a playbook's long text does not cut off %s", async (_, step, told) => {
  const fails = actionOf({
    name: "fail",
    input: z.strictObject({}),
    execute: () => Promise.reject(new Error("no")),
  });
  const next = step.type === "ask" ? step : { ...step, action: "fail", args: {} };
  const { ask } = await agency(memory(), {
    actions: [fails],
    agent: { reply: { max_chars }, handoff: { rules: [{ on: "action_failure" }] } },
    playbooks: [
      {
        ...survey,
        steps: [
          { id: "say", type: "send", text: long },
          { id: "next", ...next },
        ],
      },
    ],
  });
  const [reply] = await ask("The survey, please");
  expect(reply?.startsWith("We open at nine")).toBe(true);
  expect(reply?.endsWith(`\n\n${told}`)).toBe(true);
});
