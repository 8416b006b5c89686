import fc from "fast-check";
import { english } from "tidings/language";
import { rules } from "tidings/models";
import { describe, expect, it } from "vitest";
import { slotTypes } from "../../../src/agents/playbooks/slot-types.ts";
import type { ModelAnswer, ModelSlot, ModelTurn } from "../../../src/ports/agent-model.ts";
import { never, nextPick, type Said } from "./turns.ts";

const knowledge = [
  { title: "Opening hours", text: "We are open Tuesday to Saturday, 9 am to 6 pm." },
  { title: "Prices", text: "A haircut is $40, colour from $90." },
];
const playbooks = [
  {
    id: "pb_move",
    name: "Reschedule an appointment",
    description: "Moves an appointment to another day.",
    intents: ["reschedule_appointment"],
    when: null,
  },
  {
    id: "pb_complaint",
    name: "Complaint",
    description: "Takes down what went wrong.",
    intents: ["complaint"],
    when: "the customer is unhappy with a haircut, a colour or the staff",
  },
  {
    id: "pb_lost",
    name: "Lost property",
    description: "Looks for what somebody forgot here: an umbrella, keys, a coat.",
    intents: [],
    when: null,
  },
];

const asks = (text: string, changes: Partial<ModelTurn> = {}): ModelTurn => {
  const intents = (changes.playbooks ?? []).flatMap((each) => each.intents);
  return nextPick([["contact", text]], {
    knowledge: english().rankPassages(knowledge, text, 8),
    intents,
    ...changes,
  });
};
const answers = async (turn: ModelTurn): Promise<ModelAnswer> =>
  rules().respond(turn, { signal: never });

describe("rules", () => {
  it.each([
    ["when do you open?", knowledge[0]?.text],
    ["How much is a haircut", knowledge[1]?.text],
    ["hello, are you open on saturdays? thanks", knowledge[0]?.text],
  ])("answer %j with a piece of knowledge, word for word", async (text, piece) => {
    const answer = await answers(asks(text, { playbooks }));
    expect(answer.text).toBe(piece);
    expect(answer.confidence).toBeGreaterThanOrEqual(0.5);
  });

  it.each([
    ["Can I move my appointment to Friday?", "pb_move", "reschedule_appointment"],
    ["I can't make it on Tuesday, could we do another day?", "pb_move", "reschedule_appointment"],
    ["need to rebook", "pb_move", "reschedule_appointment"],
    ["This is unacceptable, my hair is ruined!", "pb_complaint", "complaint"],
    ["I'd like to make a complaint", "pb_complaint", "complaint"],
    ["I am unhappy with my colour", "pb_complaint", "complaint"],
  ])("start the playbook that %j asks for", async (text, playbook_id, intent) => {
    expect(await answers(asks(text, { playbooks }))).toMatchObject({ playbook_id, intent });
  });

  it("match a playbook by its description if it has no intent", async () => {
    const turn = asks("Hi there. I think I forgot my umbrella!", { playbooks });
    expect(await answers(turn)).toMatchObject({ playbook_id: "pb_lost" });
  });

  it.each([
    "How much is an appointment?",
    "How much is a colour and a haircut?",
    "Do you sell umbrellas?",
    "No complaints, I love it",
    "I don't want to reschedule",
    "Do you have gift cards?",
    "My appointment was lovely",
  ])("start no playbook for %j", async (text) => {
    const answer = await answers(asks(text, { playbooks }));
    expect(answer).not.toHaveProperty("playbook_id");
    expect(answer).not.toHaveProperty("intent");
  });

  it("answer with the best piece only if it reaches the threshold", async () => {
    const [piece = { title: "", text: "" }] = knowledge;
    const said = async (relevance: number, minRelevance?: number) => {
      const model = minRelevance === undefined ? rules() : rules({ minRelevance });
      const turn = asks("anything", { knowledge: [{ ...piece, relevance }] });
      return (await model.respond(turn, { signal: never })).text;
    };
    expect([await said(0.49), await said(0.5)]).toEqual([undefined, piece.text]);
    expect([await said(0.79, 0.8), await said(0.8, 0.8)]).toEqual([undefined, piece.text]);
  });

  it("return the intents that hand-off rules use", async () => {
    const intents = ["refund_request", "legal_threat"];
    expect(await answers(asks("I want my money back", { intents }))).toMatchObject({
      intent: "refund_request",
    });
    expect(await answers(asks("how much is a colour", { intents }))).not.toHaveProperty("intent");
    const hours = { intents: ["opening_hours"] };
    expect(await answers(asks("what are your hours", hours))).toMatchObject({
      intent: "opening_hours",
    });
    expect(await answers(asks("I waited for 2 hours", hours))).not.toHaveProperty("intent");
  });

  it.each([
    ["Hi!", "Hello! How can we help you?"],
    ["thanks so much 🙏", "You're welcome!"],
    ["Great, thank you!", "You're welcome!"],
    ["Thanks, got it!", "You're welcome!"],
    ["Vielen Dank", "Gern geschehen!"],
    ["¡Hola!", "¡Hola! ¿En qué podemos ayudarle?"],
    ["👍", "👍"],
    ["👍🏽", "👍"],
    ["thanks so much 🙏🏿🙏🏿", "You're welcome!"],
    ["hi, is this a robot", undefined],
    ["thanks for nothing", undefined],
    ["is this a robot? thanks", undefined],
    ["😡", undefined],
  ])("return %j with %j", async (text, courtesy) => {
    expect((await answers(asks(text))).text).toBe(courtesy);
  });

  it("use no texts of their own in canned_strict, and return no text if they do not understand", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("Hi!", "thanks", "open?")),
        async (text) => {
          const turn = asks(text);
          const agent = {
            ...turn.agent,
            reply: { mode: "canned_strict" as const, max_chars: 320 },
          };
          const { text: said } = await answers({ ...turn, agent });
          expect(
            [undefined, ...knowledge.map((piece) => piece.text)],
            "An agent that sends only given texts says one of them, or nothing.",
          ).toContain(said);
        },
      ),
    );
    expect(await answers(asks("can you fix my bicycle"))).toEqual({ confidence: 0 });
  });

  it("ignore instruct steps, and read only unanswered messages", async () => {
    const task = { type: "instruct", instruction: "Tell them a joke." } as const;
    expect(await answers(asks("when do you open?", { task }))).toEqual({ confidence: 0 });
    const said: Said = [
      ["contact", "I want to complain"],
      ["agent", "I'm sorry to hear that."],
      ["contact", "where exactly is Rome"],
    ];
    expect(await answers(nextPick(said, { playbooks, intents: ["complaint"] }))).toEqual({
      confidence: 0,
    });
  });

  it("reject a threshold outside 0 to 1", () => {
    for (const minRelevance of [0, 1.5, Number.NaN]) {
      expect(() => rules({ minRelevance })).toThrow(/minRelevance/);
    }
  });

  it.each([
    ["Hi, my name is Ana Lima. When do you open?", [["name", "Hi, my name is Ana Lima."]]],
    [
      "I'm allergic to nuts! I’d prefer mornings.",
      [
        ["diet", "I'm allergic to nuts!"],
        ["preference", "I'd prefer mornings."],
      ],
    ],
    ["Please call me after five", [["availability", "Please call me after five"]]],
    ["Would you love to hear more?", []],
    ["I would like to book a table", []],
    ["Where do you live?", []],
  ])("make observations from %j", async (text, expected) => {
    const { observations = [] } = await answers(asks(text));
    expect(observations.map(({ kind, content }) => [kind, content])).toEqual(expected);
  });
});

describe("rules find in a sentence", () => {
  const slot = (
    type: ModelSlot["type"],
    prompt = "Which?",
    options?: readonly string[],
  ): ModelSlot => ({
    name: "wanted",
    type,
    prompt,
    ...(options === undefined ? {} : { enum: options }),
  });
  const found = async (text: string, wanted: ModelSlot) =>
    (await answers(asks(text, { task: { type: "extract", slot: wanted } }))).slots?.["wanted"];

  it.each([
    ["I can't on Monday, but Friday would do", slot("date"), "Friday would do"],
    ["Not the 12th. May 20 please!", slot("date"), "May 20 please"],
    ["I never said no; yes, go ahead", slot("boolean"), "yes"],
    ["not the large one, small", slot("text", "Which size?", ["small", "large"]), "small"],
    ["2 adults and 3 children", slot("number", "How many children?"), 3],
    [
      "it was AB-1234 I think, bought on a Sunday",
      slot("text", "What is your order number?"),
      "AB-1234",
    ],
    ["Monday or Tuesday, no idea", slot("date"), undefined],
    ["Monday, or maybe Tuesday", slot("date"), undefined],
    ["2 adults and 3 children", slot("number", "How many dogs?"), undefined],
    ["Friday, the 11th", slot("date"), undefined],
    ["Friday, the week after next", slot("date"), undefined],
    ["Friday, but not this week, next", slot("date"), undefined],
    ["December 5, or 6", slot("date"), undefined],
    ["whenever", slot("date"), undefined],
    ["2 children, or maybe 3 children", slot("number", "How many children?"), undefined],
  ])("%j: %j gives %j", async (text, wanted, value) => {
    expect(await found(text, wanted)).toEqual(value);
  });

  it("values are the contact's own words or a number in the text", async () => {
    const types = fc.constantFrom(...slotTypes);
    const bits = fc.constantFrom(
      "Friday",
      "tomorrow",
      "not",
      ",",
      "7",
      "yes",
      "no",
      "AB-12",
      "may 5",
      "a@b.co",
      "\n",
      "🙃",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(bits, { maxLength: 12 }), types, async (words, type) => {
        const text = words.join(" ");
        const value = await found(text, slot(type, "Which day or number?"));
        if (value !== undefined) {
          expect(text, "A value that was found is in the text.").toContain(
            typeof value === "string" ? value : JSON.stringify(value),
          );
        }
      }),
    );
  });
});
