import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../src/agents/playbooks/input-types.ts";
import { playbookVersions } from "../../src/agents/playbooks/rows.ts";
import { agentVersions } from "../../src/agents/rows.ts";
import type { Agent, CreateAgent, UpdateAgent } from "../../src/agents/types.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { action } from "../../src/host/actions.ts";
import { world } from "../support/engines/world.ts";
import { outcome } from "../support/outcome.ts";
import { runsOn } from "../support/runs.ts";
import { rowsOf } from "../support/storage/rows.ts";
import { storages } from "../support/storage/storages.ts";

const required = { name: "Ada", channels: ["sms"] } satisfies CreateAgent;
/** An agent can be enabled only if the engine has a model. */
const thinking = { agents: { model: () => ({}) } };
const greeting = {
  name: "Greet",
  steps: [{ id: "greet", type: "send", text: "Hello!" }],
} satisfies CreatePlaybook;

// oxlint-disable-next-line unicorn/no-thenable -- a guideline's own field, and a string
const guideline = (what: string) => ({ when: "rude", then: what, priority: 3 });

/** The defaults of an agent that was created with the required fields only. */
const defaults = {
  ...required,
  enabled: true,
  senders: null,
  persona: { role: "assistant" },
  instructions: "",
  guidelines: [],
  playbook_ids: [],
  knowledge: [],
  actions: [],
  reply: { mode: "generated", max_chars: 480, debounce_ms: 1_500 },
  handoff: {
    rules: [{ on: "customer_request" }],
    message: "Thank you. A colleague will get back to you.",
    on_no_humans: "leave_message",
    resume_after_human: true,
  },
  limits: {
    max_ai_turns: 20,
    max_steps_per_turn: 20,
    max_tokens_per_conversation: 100_000,
    timeout_ms: 20_000,
    max_replies_per_minute: 10,
    max_triggers_per_minute: 100,
  },
  fallback_text: "Thank you for your message. We will get back to you as soon as we can.",
};

type Definition = Omit<Agent, "id" | "version" | "created_at" | "updated_at">;

const changes: fc.Arbitrary<UpdateAgent> = fc.record(
  {
    name: fc.constantFrom("Ada", "Bo"),
    enabled: fc.boolean(),
    senders: fc.constantFrom(null, ["+15005559999"]),
    persona: fc.record(
      { role: fc.constantFrom("assistant", "clerk"), tone: fc.constantFrom(null, "dry") },
      { requiredKeys: [] },
    ),
    guidelines: fc.constantFrom([], [guideline("stay calm")]),
    reply: fc.record(
      { max_chars: fc.constantFrom(160, 480), signature: fc.constantFrom(null, "Ada") },
      { requiredKeys: [] },
    ),
    handoff: fc.record(
      {
        queue_timeout_seconds: fc.constantFrom(null, 60),
        rules: fc.constantFrom([], [{ on: "max_turns", value: 3 }]),
      },
      { requiredKeys: [] },
    ),
    limits: fc.record({ timeout_ms: fc.constantFrom(1_000, 20_000) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

/** Absent fields stay and null removes a field, at the top level and in each nested object. */
function merged(before: Definition, changes: UpdateAgent): Definition {
  const over = (part: object, given: object): object =>
    Object.fromEntries(Object.entries({ ...part, ...given }).filter(([, value]) => value !== null));
  const entries = Object.entries(changes).map(([name, given]: [string, unknown]) => {
    const part: unknown = Reflect.get(before, name);
    const isPart = typeof part === "object" && part !== null && !Array.isArray(part);
    return [
      name,
      isPart && typeof given === "object" && given !== null ? over(part, given) : given,
    ];
  });
  return { ...before, ...(Object.fromEntries(entries) as Partial<Definition>) };
}

const change = fc.oneof(changes, fc.record({ enabled: fc.boolean() }));

describe.each(storages)("agents on $name", ({ name, open }) => {
  it("show their last update; each change except `enabled` makes a new version", async () => {
    const port = open().connect();
    const { agents } = world().engine(port, thinking);
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
        const { id, created_at } = await agents.create(required);
        let expected: Definition = defaults as Definition;
        const versions = [expected];
        for (const each of changes) {
          expected = merged(expected, each);
          const { enabled, ...definition } = expected;
          const last = versions.at(-1);
          const isNew =
            JSON.stringify({ ...last, enabled }) !==
            JSON.stringify({ ...last, ...definition, enabled });
          if (isNew) versions.push(expected);
          const shown = {
            ...expected,
            id,
            version: versions.length,
            created_at,
            updated_at: expect.any(String),
          };
          expect(await agents.update(id, each)).toEqual(shown);
          expect(await agents.get(id)).toEqual(shown);
        }
        const kept = (await rowsOf(port, agentVersions)).filter(({ agent_id }) => agent_id === id);
        expect(kept.map(({ revision, definition }) => [revision, definition])).toEqual(
          versions.map(({ enabled: _, ...definition }, i) => [i + 1, definition]),
        );
        await agents.remove(id);
        expect(await outcome(agents.get(id)), "An agent that was removed is not found.").toBe(
          "not_found",
        );
      }),
      { numRuns: runsOn(name, { memory: 60, SQLite: 15, PostgreSQL: 5 }) },
    );
  });

  it("never refer to a removed playbook, also if both change at once", async () => {
    const ground = open();
    const { engine } = world();
    const [one, two] = [engine(ground.connect(), thinking), engine(ground.connect(), thinking)];
    for (let round = 0; round < 5; round++) {
      const { id } = await one.playbooks.create({ ...greeting, enabled: true });
      const { id: main } = await one.playbooks.create(greeting);
      const call = { id: "call", type: "call", playbook_id: id } as const;
      const taker = [
        () => one.agents.create({ ...required, playbook_ids: [id] }),
        () => one.playbooks.update(main, { steps: [call], enabled: true }),
      ][round % 2];
      const [taken, removed] = await Promise.allSettled([taker?.(), two.playbooks.remove(id)]);
      expect([taken.status, removed.status].toSorted()).toEqual(["fulfilled", "rejected"]);
    }
  });
});

describe("an agent", () => {
  const given = (): MessagingEngine => world().engine(memory(), thinking);

  it("is rejected with a pointer for each invalid field, on create and on update", async () => {
    const { agents } = given();
    const { id } = await agents.create(required);
    const long = (count: number): string => "x".repeat(count);
    const many = <T>(count: number, of: (i: number) => T): T[] =>
      Array.from({ length: count }, (_, i) => of(i));
    const rule = (on: string, value?: unknown): object => ({
      handoff: { rules: [value === undefined ? { on } : { on, value }] },
    });
    const value = "/handoff/rules/0/value";
    const pb = "pb_01JZZZZZZZZZZZZZZZZZZZZZZZ";
    const wrong: readonly (readonly [object, string])[] = [
      [{ name: long(201) }, "/name"],
      [{ name: " " }, "/name"],
      [{ channels: [] }, "/channels"],
      [{ channels: ["sms", "sms"] }, "/channels"],
      [{ channels: ["fax"] }, "/channels/0"],
      [{ senders: [] }, "/senders"],
      [{ senders: ["!"] }, "/senders/0"],
      [{ persona: { role: null } }, "/persona/role"],
      [{ persona: { language: "not a tag" } }, "/persona/language"],
      [{ instructions: long(10_001) }, "/instructions"],
      [{ guidelines: many(51, () => guideline("b")) }, "/guidelines"],
      [{ guidelines: [guideline("")] }, "/guidelines/0/then"],
      [{ knowledge: many(101, () => ({ title: "a", text: "b" })) }, "/knowledge"],
      [{ knowledge: [{ title: "a", text: long(4_001) }] }, "/knowledge/0/text"],
      [{ playbook_ids: many(51, (i) => `pb_01JZZZZZZZZZZZZZZZZZZZZZ${10 + i}`) }, "/playbook_ids"],
      [{ playbook_ids: [pb] }, "/playbook_ids/0"],
      [{ actions: many(51, (i) => `a${i}`) }, "/actions"],
      [{ actions: ["no such"] }, "/actions/0"],
      [{ actions: ["unknown"] }, "/actions/0"],
      [{ reply: { max_chars: 1_601 } }, "/reply/max_chars"],
      [{ reply: { debounce_ms: -1 } }, "/reply/debounce_ms"],
      [{ reply: { mode: null } }, "/reply/mode"],
      [{ limits: { timeout_ms: 120_001 } }, "/limits/timeout_ms"],
      [{ limits: { max_ai_turns: 0 } }, "/limits/max_ai_turns"],
      [{ fallback_text: "" }, "/fallback_text"],
      [{ mood: "good" }, "/mood"],
      [{ limits: { patience: 1 } }, "/limits/patience"],
      [rule("keyword"), value],
      [rule("keyword", []), value],
      [rule("keyword", 3), value],
      [rule("intent", [""]), `${value}/0`],
      [rule("confidence_below", 1.1), value],
      [rule("sentiment_below", -1.1), value],
      [rule("sentiment_below", "low"), value],
      [rule("max_turns", 1.5), value],
      [rule("failed_attempts", 0), value],
      [rule("customer_request", "please"), value],
      [rule("whim"), "/handoff/rules/0/on"],
    ];
    for (const [facts, pointer] of wrong) {
      const errors = [expect.objectContaining({ pointer })];
      const refusal = { code: "validation_failed", errors };
      await expect(
        agents.create({ ...required, ...facts }),
        JSON.stringify(facts),
      ).rejects.toMatchObject(refusal);
      await expect(agents.update(id, facts), JSON.stringify(facts)).rejects.toMatchObject(refusal);
    }
    const right = [
      rule("keyword", ["refund"]),
      rule("intent", "cancel"),
      rule("confidence_below", 0),
      rule("sentiment_below", -1),
      rule("max_turns", 1),
      rule("budget"),
    ];
    for (const facts of right) await agents.update(id, facts);
    expect((await agents.get(id)).version).toBe(1 + right.length);
  });

  it.each([3, null])("is told both forms of a keyword instead of %j in a rule", async (value) => {
    const { agents } = given();
    const facts = { ...required, handoff: { rules: [{ on: "keyword", value }] } };
    await expect(Reflect.apply(agents.create, agents, [facts])).rejects.toMatchObject({
      errors: [
        {
          pointer: "/handoff/rules/0/value",
          message:
            "must be a string of 1 to 100 characters that is not blank, or a list of 1 to 50 " +
            "such strings",
        },
      ],
    });
  });

  const lookUp = action({
    name: "free_slots",
    description: "Lists free slots.",
    input: z.object({}),
    risk: "read",
    idempotent: true,
    execute: () => [],
  });

  it.each([
    [
      { actions: ["free_slot"] },
      'the engine has no action "free_slot". Did you mean "free_slots"?',
    ],
    [{ actions: ["refund"] }, 'the engine has no action "refund". It has "free_slots".'],
    [{ playbook_ids: ["pb_x"] }, 'must be the id of a playbook: "pb_" and 26 characters'],
    [{ playbook_ids: [5] }, "must be a string, got 5"],
    [{ playbook_ids: ["pb_01JZZZZZZZZZZZZZZZZZZZZZZZ"] }, "no playbook has this id"],
  ])("is told what is wrong with the names that it lists: %j", async (facts, message) => {
    const agents = { ...thinking.agents, actions: [lookUp] };
    const engine = world().engine(memory(), { agents });
    const given = Reflect.apply(engine.agents.create, undefined, [{ ...required, ...facts }]);
    await expect(given).rejects.toMatchObject({ errors: [{ message }] });
  });

  it("does not take over what the caller does to an agent that was returned", async () => {
    const { agents } = given();
    const first = await agents.create(required);
    first.guidelines.push(guideline("Stay calm."));
    first.handoff.rules.push({ on: "budget" });
    expect(await agents.create(required)).toMatchObject(defaults);
  });

  it("is told that the engine has no actions", async () => {
    await expect(given().agents.create({ ...required, actions: ["refund"] })).rejects.toMatchObject(
      {
        errors: [
          {
            pointer: "/actions/0",
            code: "unknown_action",
            message: 'the engine has no action "refund". Its option `agents` has no actions.',
          },
        ],
      },
    );
  });

  it("counts towards the limit of 100 agents, also if engines create them at once", async () => {
    const port = memory();
    const { engine } = world();
    const [one, two] = [engine(port, thinking), engine(port, thinking)];
    const made = await Promise.allSettled(
      Array.from({ length: 110 }, (_, i) => (i % 2 === 0 ? one : two).agents.create(required)),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
    const [last] = (await one.agents.list({ limit: 1 })).data;
    await one.agents.remove(last?.id ?? "");
    expect(await outcome(one.agents.create(required))).toBe("done");
    expect(await outcome(one.agents.create(required))).toBe("conflict");
    expect(await outcome(one.account(undefined, { mode: "live" }).agents.create(required))).toBe(
      "done",
    );
  });
});

describe("a playbook", () => {
  const broken = [{ id: "greet", type: "send" as const, text: "Hello!", next: "nowhere" }];

  it("is validated as a whole when it is enabled and on each update while enabled", async () => {
    const port = memory();
    const { playbooks } = world().engine(port, thinking);
    const refusal = {
      code: "validation_failed",
      errors: [
        expect.objectContaining({ pointer: expect.stringMatching(/^\/steps\/0/) as unknown }),
      ],
    };
    await expect(
      playbooks.create({ name: "Broken", steps: broken, enabled: true }),
    ).rejects.toMatchObject(refusal);
    const { id } = await playbooks.create({ name: "Broken", steps: broken });
    await expect(playbooks.update(id, { enabled: true })).rejects.toMatchObject(refusal);
    expect(await playbooks.update(id, { steps: greeting.steps, enabled: true })).toMatchObject({
      version: 2,
    });
    const before = await playbooks.get(id);
    await expect(playbooks.update(id, { steps: broken })).rejects.toMatchObject(refusal);
    expect(await playbooks.get(id)).toEqual(before);
    expect(
      await playbooks.update(id, { name: "Broken", enabled: true }),
      "the same as before",
    ).toEqual(before);
    expect(await playbooks.update(id, { steps: broken, enabled: false })).toMatchObject({
      version: 3,
      enabled: false,
    });
    const kept = await rowsOf(port, playbookVersions);
    expect(kept.map(({ revision, definition: { steps } }) => [revision, steps])).toEqual([
      [1, broken],
      [2, greeting.steps],
      [3, broken],
    ]);
  });

  it("can be read in each version that is kept", async () => {
    const { playbooks } = world().engine(memory(), thinking);
    const first = await playbooks.create(greeting);
    const second = await playbooks.update(first.id, { name: "Welcome" });
    expect(await playbooks.get(first.id)).toEqual(second);
    expect(await playbooks.get(first.id, { version: 2 })).toEqual(second);
    expect(await playbooks.get(first.id, { version: 1 })).toEqual(first);
    expect(await outcome(playbooks.get(first.id, { version: 3 }))).toBe("not_found");
  });

  it("is rejected if its steps call missing playbooks or actions; a called playbook cannot be removed", async () => {
    const { playbooks, agents } = world().engine(memory(), thinking);
    const { id } = await playbooks.create(greeting);
    const steps = [
      { id: "call", type: "call" as const, playbook_id: id },
      { id: "run", type: "run" as const, action: "unknown", args: {} },
    ];
    await expect(playbooks.create({ name: "Main", steps, enabled: true })).rejects.toMatchObject({
      errors: expect.arrayContaining(
        ["/steps/0/playbook_id", "/steps/1/action"].map(
          (pointer) => expect.objectContaining({ pointer }) as unknown,
        ),
      ) as unknown,
    });
    await playbooks.update(id, { enabled: true });
    const main = await playbooks.create({ name: "Main", steps: steps.slice(0, 1), enabled: true });
    await expect(playbooks.remove(id)).rejects.toMatchObject({
      code: "conflict",
      conflictingId: main.id,
    });
    const ada = await agents.create({ ...required, playbook_ids: [main.id] });
    await expect(playbooks.remove(main.id)).rejects.toMatchObject({
      code: "conflict",
      conflictingId: ada.id,
    });
    await agents.update(ada.id, { playbook_ids: [] });
    await playbooks.remove(main.id);
    await playbooks.remove(id);
    expect((await playbooks.list()).data).toEqual([]);
  });
});

it("the actions can be listed by name, with the input that they take", async () => {
  const pay = action({
    name: "pay",
    description: "Pays.",
    input: z.strictObject({ amount: z.number() }),
    risk: "approval",
    idempotent: false,
    timeout_ms: 5_000,
    execute: () => null,
  });
  const look = action({ ...pay, name: "look", risk: "read", input: z.strictObject({}) });
  const engine = world().engine(memory(), { agents: { model: () => ({}), actions: [pay, look] } });
  const listed = await engine.agents.actions();
  expect(listed.data.map(({ name }) => name)).toEqual(["look", "pay"]);
  expect(listed.data[1]).toEqual({
    name: "pay",
    description: "Pays.",
    risk: "approval",
    idempotent: false,
    timeout_ms: 5_000,
    input_schema: expect.objectContaining({ required: ["amount"] }) as unknown,
  });
  const bare = world().engine(memory());
  expect(await bare.agents.actions()).toEqual({ data: [] });
});
