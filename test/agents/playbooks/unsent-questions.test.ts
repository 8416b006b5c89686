/** What contacts write before a playbook's question is sent, or after it could not be sent. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { EngineOptions } from "../../../src/host/options/options.ts";
import type { Policy } from "../../../src/ports/policy.ts";
import { accepted, busy, carrier, refused } from "../../support/engines/carrier.ts";
import { actionOf } from "../actions.ts";
import { agency, survey, type Agency } from "../world.ts";

const hour = 3_600_000;
const question = "From 1 to 5?";

interface Holding {
  /** Whether what agents send is held back. */
  isOn: boolean;
}

/** A policy that holds back for an hour. */
function byPolicy(holding: Holding): Partial<EngineOptions> {
  const policy: Policy = {
    name: "night",
    evaluate: ({ now, message }) =>
      holding.isOn && message.author.type === "agent"
        ? { verdict: "defer", until: now + hour, reason: "It is night." }
        : { verdict: "allow" },
  };
  return { policies: [policy] };
}

/** A carrier that cannot take messages. */
function byCarrier(holding: Holding): Partial<EngineOptions> {
  const line = carrier({
    send: (_, attempt) => (holding.isOn ? busy(hour) : accepted(attempt)),
  });
  return { transports: [line] };
}

const statuses = async ({ thread }: Agency) =>
  (await thread()).map(({ body, status }) => [body, status]);

describe.each([
  ["a policy", byPolicy, "scheduled"],
  ["the carrier", byCarrier, "queued"],
] as const)("a question that %s holds back", (_, holdBack, status) => {
  test("is answered by what the contact writes after it, not before", async () => {
    const holding = { isOn: true };
    const made = await agency(memory(), { playbooks: [survey], options: holdBack(holding) });
    await made.ask("survey");
    await made.ask("I have 3 dogs");
    expect(await statuses(made)).toEqual([
      ["survey", "received"],
      [question, status],
      ["I have 3 dogs", "received"],
      ["You said: I have 3 dogs", status],
    ]);
    holding.isOn = false;
    await made.fastForward(2 * hour);
    expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
  });

  test("is also answered by what the contact writes after the first time it was asked", async () => {
    const holding = { isOn: false };
    const made = await agency(memory(), {
      playbooks: [survey],
      options: holdBack(holding),
      model: () => ({}),
    });
    await made.ask("survey");
    holding.isOn = true;
    expect(await made.ask("What?")).toEqual([question]);
    expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
  });

  test("is asked again if the host application cancels it, and the contact may still answer max_turns times", async () => {
    const holding = { isOn: true };
    const playbooks = [{ ...survey, max_turns: 1 }];
    const made = await agency(memory(), { playbooks, options: holdBack(holding) });
    await made.ask("survey");
    const asked = (await made.thread()).at(-1);
    await made.engine.messages.cancel(asked?.id ?? "");
    holding.isOn = false;
    expect(await made.ask("I have 3 dogs")).toEqual([question]);
    expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
  });
});

test("a triggered playbook's question is answered only after it was sent, too", async () => {
  const holding = { isOn: true };
  const made = await agency(memory(), { playbooks: [survey], options: byPolicy(holding) });
  const { engine, agent, ask } = made;
  const { id } = await engine.contacts.create({ phone: "+15005550101" });
  const [playbook_id = ""] = agent.playbook_ids;
  await engine.agents.trigger(agent.id, { contact_id: id, playbook_id });
  await made.pass();
  expect(await ask("I have 3 dogs")).toEqual(["You said: I have 3 dogs"]);
  holding.isOn = false;
  await made.fastForward(2 * hour);
  expect(await ask("4")).toEqual(["Thank you for the 4."]);
});

test("a question that the carrier refuses is asked again", async () => {
  let isRefused = true;
  const line = carrier({ send: (_, attempt) => (isRefused ? refused : accepted(attempt)) });
  const made = await agency(memory(), { playbooks: [survey], options: { transports: [line] } });
  await made.ask("survey");
  isRefused = false;
  expect(await made.ask("I have 3 dogs")).toEqual([question]);
  expect(await made.ask("4")).toEqual(["Thank you for the 4."]);
});

test("a question stays open when a triggered playbook that called an action cannot reply", async () => {
  let isDenied = false;
  const done: unknown[] = [];
  const note = actionOf({
    name: "note",
    input: z.strictObject({}),
    risk: "write",
    execute: (input) => {
      done.push(input);
      return null;
    },
  });
  const policy: Policy = {
    name: "no_offers",
    evaluate: ({ message }) =>
      isDenied && message.author.type === "agent"
        ? { verdict: "deny", code: "no_offers", message: "No offers." }
        : { verdict: "allow" },
  };
  const made = await agency(memory(), {
    actions: [note],
    playbooks: [survey],
    options: { policies: [policy] },
  });
  const { engine, agent, ask } = made;
  const { id: playbook_id } = await engine.playbooks.create({
    name: "Offer",
    enabled: true,
    steps: [
      { id: "note", type: "run", action: "note", args: {} },
      { id: "say", type: "send", text: "An offer!" },
    ],
  });
  expect(await ask("survey")).toEqual([question]);
  const { contact } = await made.conversation();
  isDenied = true;
  await engine.agents.trigger(agent.id, { contact_id: contact.id, playbook_id });
  await made.pass();
  expect((await made.runs()).at(-1)).toMatchObject({ status: "failed" });
  expect(done).toHaveLength(1);
  isDenied = false;
  expect(await ask("4")).toEqual(["Thank you for the 4."]);
});
