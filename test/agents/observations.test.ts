import { expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { rules } from "../../adapters/models/index.ts";
import { agency } from "./world.ts";

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
