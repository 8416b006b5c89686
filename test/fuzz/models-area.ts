/** What a model answers, and what the contacts of its agent write. */
import fc from "fast-check";
import type { ModelAnswer } from "../../src/ports/agent-model.ts";
import { area } from "./area.ts";
import { mutated, mutation, oddJson, oddText, type Json } from "./json.ts";
import { fuzzWorld } from "./world.ts";

const maxCharacters = 200;

const proper = fc.record(
  {
    text: oddText,
    confidence: fc.double({ min: -1, max: 2 }),
    intent: oddText,
    playbook_id: fc.oneof(fc.constant("{{playbook}}"), oddText),
    slots: fc.dictionary(oddText, oddJson, { maxKeys: 3 }),
    calls: fc.array(
      fc.record({ action: fc.oneof(fc.constant("refund"), oddText), input: oddJson }),
      {
        maxLength: 10,
      },
    ),
    handoff: fc.record({ reason: oddText, summary: oddText }),
    observations: fc.array(
      fc.record({ content: oddText, kind: oddText, confidence: fc.double() }),
      { maxLength: 12 },
    ),
    usage: fc.record({ input_tokens: fc.double(), output_tokens: fc.integer() }),
  },
  { requiredKeys: [] },
);

type Said = { readonly value: Json } | { readonly thrown: string };

const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(proper, fc.option(mutation)).map(([answer, change]) => {
      const plain = JSON.parse(JSON.stringify(answer)) as Json;
      return { value: change === null ? plain : mutated(plain, change) };
    }),
  },
  { weight: 1, arbitrary: oddJson.map((value) => ({ value })) },
  { weight: 1, arbitrary: oddText.map((thrown) => ({ thrown })) },
);

interface ModelCase {
  readonly texts: readonly string[];
  readonly answers: readonly Said[];
}

export const modelsArea = area<ModelCase>({
  name: "models",
  share: 1,
  cases: fc.record({
    texts: fc.array(fc.oneof(fc.constant("Where is my order?"), oddText), {
      minLength: 1,
      maxLength: 3,
    }),
    answers: fc.array(said, { minLength: 1, maxLength: 4 }),
  }),
  async run({ texts, answers }, sent) {
    let next = 0;
    await using world = await fuzzWorld({
      model: () => {
        const answer = answers[next++ % answers.length] ?? { value: null };
        if ("thrown" in answer) throw new Error(answer.thrown);
        return answer.value as ModelAnswer;
      },
    });
    const { engine, clock, own } = world;
    const desk = engine.account(own.scope.account_id, { mode: "sandbox" });
    const agent = await desk.agents.create({
      name: "Bot",
      channels: ["sms"],
      actions: ["refund"],
      reply: { max_chars: maxCharacters },
      enabled: true,
    });
    sent(JSON.stringify(answers));
    for (const body of texts) {
      sent(body);
      const request = { from: "+15005550100", body };
      await world.ask({
        method: "POST",
        path: "/v1/sandbox/inbound",
        key: own.secret,
        body: request,
      });
      await clock.advance(30_000);
    }
    await world.check();
    const { data } = await desk.messages.list({ direction: "outbound", to: "+15005550100" });
    for (const { author, body } of data) {
      if (author.type === "agent" && [...(body ?? "")].length > maxCharacters) {
        throw new Error("a reply is longer than the agent allows");
      }
    }
    const runs = await desk.agents.runs(agent.id);
    const open = runs.data.filter(({ status }) => status === "running");
    if (open.length > 0) throw new Error(`runs that never end: ${JSON.stringify(open)}`);
  },
});
