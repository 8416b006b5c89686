import { expect, test } from "vitest";
import { rules } from "../../../adapters/models/index.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { agency } from "../world.ts";

const told = "I'm allergic to nuts.";

test("observations of rules are stored with their evidence and given to the next turn", async () => {
  const { engine, ask, seen, thread } = await agency(memory(), { model: rules() });
  await ask(told);
  const [message] = await thread();
  const observed = await engine.contacts.observations(message?.contact_id ?? "");
  expect(observed.data).toMatchObject([
    {
      content: told,
      kind: "diet",
      source: "rule",
      evidence_message_ids: [message?.id],
      conversation_id: message?.conversation_id,
    },
  ]);
  await ask("Hello again");
  expect(seen.at(-1)?.observations).toEqual([told]);
});

test("of a model, an observation without content or without a kind is not stored", async () => {
  const { engine, ask, conversation } = await agency(memory(), {
    model: () => ({
      text: "I see.",
      observations: [
        { content: told, kind: "diet" },
        { content: told, kind: " \n" },
        { content: "\0", kind: "diet" },
      ],
    }),
  });
  await ask(told);
  const { contact } = await conversation();
  const { data } = await engine.contacts.observations(contact.id);
  expect(data.map(({ content, kind }) => ({ content, kind }))).toEqual([
    { content: told, kind: "diet" },
  ]);
});

test("observations before and after a playbook that sends nothing are both stored", async () => {
  const { engine, ask, conversation } = await agency(memory(), {
    playbooks: [
      {
        name: "Mark",
        slots: [{ name: "isKnown", type: "boolean", required: true, prompt: "?" }],
        steps: [{ id: "mark", type: "set", values: { isKnown: true } }],
      },
    ],
    model: ({ playbooks: [playbook] }) =>
      playbook === undefined
        ? { text: "I see.", observations: [{ content: "Is polite.", kind: "manner" }] }
        : { playbook_id: playbook.id, observations: [{ content: told, kind: "diet" }] },
  });
  expect(await ask(told)).toEqual(["I see."]);
  const { contact } = await conversation();
  const { data } = await engine.contacts.observations(contact.id);
  expect(data.map(({ content }) => content).toSorted()).toEqual([told, "Is polite."]);
});

test("observations behind many that have expired are listed, and given to the next turn", async () => {
  const { engine, ask, conversation, seen, world } = await agency(memory());
  await ask("Hello");
  const { contact } = await conversation();
  const add = (content: string, expires_at?: string) =>
    engine.contacts.addObservation(contact.id, { content, kind: "diet", expires_at });
  await add(told);
  const soon = new Date(world.clock.now() + 60_000).toISOString();
  for (let n = 0; n < 100; n++) await add(`Offer ${n}`, soon);
  // The engine removes them later.
  world.clock.step(61_000);
  await ask("Hello again");
  expect(seen.at(-1)?.observations).toEqual([told]);
  const page = await engine.contacts.observations(contact.id, { limit: 5 });
  expect(page).toMatchObject({ data: [{ content: told }], has_more: false });
});

test("redacting a message deletes the model's observations from it and keeps those of people", async () => {
  const { engine, ask, thread } = await agency(memory(), {
    model: () => ({ text: "I see.", observations: [{ content: told, kind: "diet" }] }),
  });
  await ask(told);
  const [message] = await thread();
  const { contact_id: contact = "", id = "" } = message ?? {};
  expect(await engine.contacts.observations(contact)).toMatchObject({
    data: [{ source: "model" }],
  });
  await engine.contacts.addObservation(contact, {
    content: "No nuts.",
    kind: "diet",
    evidence_message_ids: [id],
  });
  await engine.messages.redact(id);
  expect(await engine.contacts.observations(contact)).toMatchObject({
    data: [{ content: "No nuts." }],
  });
});

test("a model sees the 20 newest observations that have not expired", async () => {
  const { world, engine, ask, pass, seen, conversation } = await agency(memory());
  await ask("Hello");
  const { contact } = await conversation();
  const note = (content: string, more: { expires_at?: string } = {}) =>
    engine.contacts.addObservation(contact.id, { content, kind: "diet", ...more });
  for (let n = 0; n < 21; n++) await note(`Likes dish ${n}.`);
  const expires_at = new Date(world.clock.now() + 60_000).toISOString();
  for (let n = 0; n < 20; n++) await note(`Is in town ${n}.`, { expires_at });
  await pass(120_000);
  await ask("What may I eat?");
  expect(seen.at(-1)?.observations).toEqual(
    Array.from({ length: 20 }, (_, n) => `Likes dish ${20 - n}.`),
  );
});
