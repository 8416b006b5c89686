/** What the forms of the console make of agents and playbooks, and what they send. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  agentBody,
  agentDraftOf,
  newAgent,
} from "../../adapters/web/console/browser/agents/edit/agent/agent-draft.ts";
import {
  textOfValue,
  valueIn,
} from "../../adapters/web/console/browser/agents/edit/form/values.ts";
import {
  newPlaybook,
  playbookBody,
  playbookDraftOf,
  renamed,
} from "../../adapters/web/console/browser/agents/edit/playbook/playbook-draft.ts";
import { changedFields } from "../../adapters/web/console/browser/changed-fields.ts";
import type { Agent, CreateAgent, CreatePlaybook, Json, Playbook } from "../../src/index.ts";
import { newShop } from "./shop-pages.ts";

/** Without what a change removes, as the resource has it. */
const plain = (body: object): Record<string, unknown> =>
  JSON.parse(JSON.stringify(body, (_, value: unknown) => value ?? undefined)) as Record<
    string,
    unknown
  >;

test("a value is read from its text as it was, whatever it is", () => {
  const tricky = fc.constantFrom("5", "true", '"', '"a"', "{{slot}}", "[1", "null", " 5 ", "");
  const value = fc.oneof(tricky, fc.jsonValue()) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(value, (given) => {
      const stored = JSON.parse(JSON.stringify(given)) as Json;
      expect(valueIn(textOfValue(stored))).toEqual(stored);
    }),
  );
});

const playbook: Omit<Playbook, "id" | "version" | "created_at" | "updated_at"> = {
  name: "Book",
  description: "Books a table.",
  enabled: false,
  trigger: { keywords: ["table", "yes, please"], intents: ["book"], when: "asked", priority: -2 },
  slots: [
    { name: "guests", type: "number", required: true, prompt: "How many?" },
    { name: "seat", type: "text", required: false, prompt: "Where?", enum: ["In, or", "Out"] },
    { name: "code", type: "text", required: true, prompt: "Code?", pattern: "[A-Z]{2}" },
  ],
  steps: [
    { id: "hello", type: "send", text: "Hello {{contact.name}}" },
    { id: "ask", type: "ask", slot: "guests", retries: 0, on_fail: "people", next: "set" },
    { id: "set", type: "set", values: { seat: "5", guests: 5, code: null } },
    { id: "size", type: "branch", cases: [{ when: "guests > 4", next: "people" }] },
    { id: "book", type: "run", action: "book", args: { n: "{{guests}}" }, on_error: "people" },
    { id: "say", type: "instruct", text: "Be kind" },
    { id: "people", type: "handoff", reason: "Large" },
    { id: "end", type: "resolve" },
  ],
  on_cancel: "end",
  max_turns: 7,
};

test("a form that is opened and saved sends what the API has, and no change", async () => {
  const { shop } = await newShop();
  const made = await shop.playbooks.create(playbook);
  const draft = playbookDraftOf(made);
  expect(plain(playbookBody(draft, false))).toEqual(plain(playbook));
  expect(changedFields(playbookBody(draft, false), playbookBody(draft, false))).toEqual({});

  const agent = await shop.agents.create({
    name: "Ada",
    channels: ["sms", "webchat"],
    senders: ["+15005559999"],
    persona: { tone: "dry" },
    // oxlint-disable-next-line unicorn/no-thenable -- a guideline's own field, and a string
    guidelines: [{ when: "rude", then: "stay calm", priority: 3 }],
    knowledge: [{ title: "Hours", text: "Noon to ten" }],
    playbook_ids: [made.id],
    reply: { signature: "Ada" },
    handoff: {
      rules: [
        { on: "keyword", value: ["manager", "no, thanks"] },
        { on: "confidence_below", value: 0.4 },
        { on: "guardrail" },
      ],
      message: null,
      queue_timeout_seconds: 60,
    },
  });
  const { id: _, version: __, created_at: ___, updated_at: ____, ...settings } = agent;
  expect(plain(agentBody(agentDraftOf(agent)))).toEqual(plain(settings));
});

test("a new agent has the defaults of the API, and a new playbook needs what is empty", async () => {
  const { shop } = await newShop();
  const response = await shop.agents.create({ name: "Bo", channels: ["sms"] });
  const standard = (path: string): string => {
    const found = path.split("/").reduce<unknown>((at, part) => (at as never)[part], response);
    return String(found);
  };
  const draft = newAgent(standard);
  const body = agentBody({ ...draft, name: "Bo" }) as unknown as CreateAgent;
  const made = await shop.agents.create(body);
  const settings = ({ id: _, created_at: __, updated_at: ___, ...others }: Agent) => others;
  expect(settings(made)).toEqual(settings(response));
  const nameless = shop.agents.create(agentBody(draft) as unknown as CreateAgent);
  await expect(nameless).rejects.toMatchObject({ errors: [{ pointer: "/name" }] });
  const refused = shop.playbooks.create(
    playbookBody(newPlaybook, true) as unknown as CreatePlaybook,
  );
  await expect(refused).rejects.toMatchObject({
    errors: [{ pointer: "/name" }, { pointer: "/steps/0/text" }],
  });
});

test("what refers to a step follows its new id, and not while another step has the old one", () => {
  const { steps } = playbookDraftOf(playbook);
  const at = steps.findIndex(({ id }) => id === "people");
  const step = steps[at];
  if (step === undefined) expect.fail("There is no step.");
  const after = renamed(steps.with(at, { ...step, id: "person" }), "people", "person");
  const refers = after.flatMap(({ on_fail, on_error, cases }) => [
    on_fail,
    on_error,
    ...cases.map(({ next }) => next),
  ]);
  expect(refers).not.toContain("people");
  expect(refers.filter((id) => id === "person")).toHaveLength(3);
  const twice = [...steps, { ...step, id: "other" }];
  expect(renamed(twice, "people", "other")).toEqual(twice);
});
