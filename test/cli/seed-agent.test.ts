/** What the agent of the demo answers, with the model that needs no network. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { demoActions } from "../../adapters/cli/dev/actions.ts";
import { createAgent } from "../../adapters/cli/dev/seed/agent.ts";
import { standard } from "../../adapters/standard.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { world } from "../support/engines/world.ts";

/** What people may ask after they have seen the demo page, the history or another answer. */
const answers: Readonly<Record<string, string>> = {
  "Does delivery cost anything?": "It costs $6, and from $40 on delivery is free.",
  "How much is delivery?": "It costs $6",
  "Do you deliver to Olympia?": "We deliver within the city",
  "When are you open on Saturday?": "on Saturday from 10 to 16",
  "Hi, are you open on Sunday?": "On Sunday we are closed.",
  "Where are you?": "12 Alder Lane",
  "Where is the shop?": "12 Alder Lane",
  "How often should I water my monstera?": "A monstera likes water once a week.",
  "How often should I water an orchid?": "So does an orchid.",
  "Why do its leaves turn yellow?": "Leaves mostly turn yellow because the soil is too wet.",
  "My monstera has yellow leaves. What should I do?": "Let it dry for ten days.",
  "Which plant likes a shady corner?": "A Boston fern is the plant for a shady corner.",
  "How much is the olive tree?": "the olive tree for $54",
  "What does the orchid cost?": "the orchid for $29",
  "Do you have a Boston fern?": "the Boston fern for $22",
  "Can you wrap it as a present?": "We wrap a plant as a present",
  "Can I make an appointment to repot my ficus?": "Which day would suit you?",
  "How long does repotting take?": "half an hour, while you wait",
  "What does repotting cost?": "It costs $12.",
  "Should I bring the new pot?": "The soil is on us.",
  "My fern arrived unwell. Do you replace it?": "replaced within 14 days",
  "Can I return a plant?": "replaced within 14 days",
  "My olive tree arrived with a broken pot.": "a colleague, who will put it right",
  "I'd like to talk to a person.": "I pass you on to a colleague",
  "Do you also look after plants in offices?": "I pass you on to a colleague",
  "Thanks!": "You're welcome!",
};

const page = readFileSync(
  new URL("../../adapters/cli/dev/demo/shop.html", import.meta.url),
  "utf8",
);
const [, list = ""] = /<ul class="questions">(.*?)<\/ul>/s.exec(page) ?? [];
const suggested = [...list.matchAll(/<li>(.*?)<\/li>/g)].map(([, text = ""]) => text);

/** An engine with the demo's agent. */
async function demo() {
  const { clock, started } = world();
  const agents = { ...standard().agents, actions: demoActions };
  const one = await started(memory(), { transports: [sandbox()], agents });
  await createAgent(one);
  return { clock, one };
}

test("each question that the demo suggests has its answer", async () => {
  const { clock, one } = await demo();
  const asked = Object.keys(answers).map((body, i) => ({ body, from: `+12065550${200 + i}` }));
  const conversations = await Promise.all(asked.map((text) => one.sandbox.inbound(text)));
  await clock.advance(20_000);

  const given = conversations.map(async ({ conversation_id, body }) => {
    const { data } = await one.conversations.messages(conversation_id, { limit: 1 });
    return [body, data[0]?.body];
  });
  const expected = Object.entries(answers).map(([question, answer]) => [
    question,
    expect.stringContaining(answer) as unknown,
  ]);
  expect(await Promise.all(given)).toEqual(expected);
  expect(suggested.length).toBeGreaterThan(5);
  expect(Object.keys(answers)).toEqual(expect.arrayContaining(suggested));
});

test("the demo's agent books an appointment, and names the day in words", async () => {
  const { clock, one } = await demo();
  const say = async (body: string): Promise<string | null | undefined> => {
    const { conversation_id } = await one.sandbox.inbound({ from: "+12065550200", body });
    await clock.advance(10_000);
    return (await one.conversations.messages(conversation_id, { limit: 1 })).data[0]?.body;
  };
  await say("Can I make an appointment?");
  expect(await say("Next Friday")).toBe("Morning or afternoon?");
  expect(await say("afternoon please")).toMatch(
    /^Done: we see you on Friday, [A-Z][a-z]+ \d+, in the afternoon\.$/,
  );
});
