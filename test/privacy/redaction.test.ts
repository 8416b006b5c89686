/** What a redaction removes, besides the text of the message itself. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { consumerEvents } from "../../src/events/consumer-reader.ts";
import type { CreatePlaybook } from "../../src/agents/playbooks/types.ts";
import { rowsOf, tablesWith } from "../contacts/rows.ts";
import { agency, visitor } from "../agents/world.ts";
import { mortal, outcome } from "../contacts/helpers.ts";
import { observations } from "../../src/observations/rows.ts";
import { storages } from "../support/storages.ts";

describe.each(storages)("a redaction on $name", ({ open }) => {
  it("removes consumers' errors about the message's events, and no others", async () => {
    const storage = open().connect();
    const { engine, say, pass } = await agency(storage, {
      model: ({ messages }) => ({ handoff: { reason: `They wrote: ${messages.at(-1)?.text}` } }),
    });
    engine.consume("messages", ["message.received"], ({ data: { body } }) => {
      throw new Error(`cannot store ${body}`);
    });
    engine.consume("handoffs", ["conversation.handoff"], ({ data: { reason } }) => {
      throw new Error(`cannot store ${reason}`);
    });
    const { id } = await say("I am allergic to kumquats.");
    await say("Hello?", "+15005550102");
    await pass();
    const errors = async () => (await rowsOf(storage, consumerEvents)).map(({ error }) => error);
    const aboutHello = ["Error: cannot store Hello?", "Error: cannot store They wrote: Hello?"];
    expect(await errors()).toEqual(
      expect.arrayContaining([
        "Error: cannot store I am allergic to kumquats.",
        "Error: cannot store They wrote: I am allergic to kumquats.",
        ...aboutHello,
      ]),
    );

    await engine.messages.redact(id);

    expect(await tablesWith(storage, ["kumquats"])).toEqual([]);
    expect((await errors()).filter((error) => error !== null).toSorted()).toEqual(aboutHello);
  });
});

describe("a redaction while an agent follows a playbook", () => {
  const order: CreatePlaybook = {
    name: "Order",
    trigger: { keywords: ["order"] },
    slots: [
      { name: "card", type: "text", required: true, prompt: "Your card number?" },
      { name: "sure", type: "boolean", required: true, prompt: "Are you sure?" },
    ],
    steps: [
      { id: "card", type: "ask", slot: "card" },
      { id: "sure", type: "ask", slot: "sure" },
      { id: "thank", type: "send", text: "Charged {{card}}." },
    ],
  };

  it("removes the contact's answer and ends the playbook, so that the answer is not sent", async () => {
    const storage = memory();
    const { engine, ask, thread } = await agency(storage, { playbooks: [order] });
    expect(await ask("order")).toEqual(["Your card number?"]);
    expect(await ask("kumquat 4111")).toEqual(["Are you sure?"]);
    const answer = (await thread()).find(({ body }) => body === "kumquat 4111");

    await engine.messages.redact(answer?.id ?? "");

    expect(await tablesWith(storage, ["kumquat"])).toEqual([]);
    expect(await ask("yes")).toEqual(["You said: yes"]);
    expect(await ask("order"), "The playbook can start again.").toEqual(["Your card number?"]);
  });

  it("leaves the playbook alone if the agent has not read the message", async () => {
    const { engine, ask, say } = await agency(memory(), { playbooks: [order] });
    await ask("order");
    await ask("4111");
    // The agent waits until the contact has stopped writing.
    const { id } = await say("kumquat");

    await engine.messages.redact(id);

    expect(await ask("yes")).toEqual(["Charged 4111."]);
  });
});

describe("a redaction while a merge moves the contact's history", () => {
  /** More rows of a kind than a merge moves in one transaction. */
  const many = Array.from({ length: 120 }, (_, n) => `${n}`);

  it.each([
    { first: "the observation", isMessageMoved: false },
    { first: "the message", isMessageMoved: true },
  ])("removes the model's observation if $first has moved first", async ({ isMessageMoved }) => {
    const storage = memory();
    const { storage: own, dieAfter } = mortal(storage);
    const { engine, world, say, pass } = await agency(own, {
      model: ({ messages: heard }) => {
        const content = heard.at(-1)?.text ?? "";
        return { text: "I see.", observations: [{ content, kind: "any" }] };
      },
    });
    const { id: survivor } = await engine.contacts.create({ phone: "+15005550100" });
    const { id: other } = await engine.contacts.create({ phone: visitor });
    for (const content of many) {
      // The agent does not observe a keyword.
      if (isMessageMoved) await engine.contacts.addObservation(other, { content, kind: "any" });
      else await say("STOP");
    }
    if (!isMessageMoved) await say("START");
    const { id } = await say("I am allergic to kumquats.");
    await pass();
    const owners = async () =>
      (await rowsOf(storage, observations)).flatMap(({ content, contact_id }) =>
        content.includes("kumquats") ? [contact_id] : [],
      );
    // The merge commits, and then the first part of the history moves.
    dieAfter(2);
    expect(await outcome(engine.contacts.merge(survivor, other))).toBe("storage_unavailable");
    const next = world.engine(storage);
    expect([(await next.messages.get(id)).contact_id, ...(await owners())]).toEqual(
      isMessageMoved ? [survivor, other] : [other, survivor],
    );

    await next.messages.redact(id);

    expect(await owners()).toEqual([]);
  });
});
