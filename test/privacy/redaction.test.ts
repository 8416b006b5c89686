/** What a redaction removes, besides the text of the message itself. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { CreatePlaybook } from "../../src/agents/playbooks/input-types.ts";
import { contactById } from "../../src/contacts/rows.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { consumerEvents } from "../../src/events/consumers/rows.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { observations } from "../../src/observations/rows.ts";
import type { ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import type { Index } from "../../src/ports/collection.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { actionOf } from "../agents/actions.ts";
import { agency, visitor } from "../agents/world.ts";
import { held } from "../support/engines/carrier.ts";
import { outcome } from "../support/outcome.ts";
import { mortal, withGroups, writesTo } from "../support/storage/groups.ts";
import { readingByIndex } from "../support/storage/reading-by-index.ts";
import { rowsOf, tablesWith } from "../support/storage/rows.ts";
import { lightStorages } from "../support/storage/storages.ts";
import { withEarlierRuns } from "./earlier-runs.ts";

describe.each(lightStorages)("a redaction on $name", ({ open }) => {
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

it("a redaction is told once by an event without the text, which an erasure leaves as it is", async () => {
  const { engine, say, pass } = await agency(memory());
  const told: string[] = [];
  engine.consume("copies", ["message.received", "message.redacted"], ({ type, data }) => {
    told.push(`${type} ${data.message_id}`);
  });
  const { id, contact_id, conversation_id } = await say("swordfish");
  await pass();
  await engine.messages.redact(id);
  await engine.messages.redact(id);
  await pass();
  expect(told).toEqual([`message.received ${id}`, `message.redacted ${id}`]);
  const events = async () => (await engine.events.list({ type: "message.redacted" })).data;
  const data = { message_id: id, contact_id, conversation_id, channel: "sms" };
  expect(await events()).toEqual([expect.objectContaining({ data })]);

  await engine.contacts.erase(contact_id);
  await pass();

  expect(await events()).toEqual([expect.objectContaining({ data })]);
});

const charge = actionOf({
  name: "charge",
  input: z.strictObject({ card: z.string() }),
  risk: "write",
  execute: () => ({ ok: true }),
});

/** Sends more messages than a turn reads as its history. */
async function sendNotices({ messages }: MessagingEngine): Promise<void> {
  for (let i = 0; i < 32; i++) await messages.send({ to: visitor, body: `Notice ${i}` });
}

describe("a redaction while an agent follows a playbook", () => {
  const slots: CreatePlaybook["slots"] & object = [
    { name: "card", type: "text", required: true, prompt: "Your card number?" },
    { name: "sure", type: "boolean", required: true, prompt: "Are you sure?" },
  ];
  const steps: CreatePlaybook["steps"] = [
    { id: "card", type: "ask", slot: "card" },
    { id: "sure", type: "ask", slot: "sure" },
    { id: "thank", type: "send", text: "Charged {{card}}." },
  ];
  const order: CreatePlaybook = { name: "Order", trigger: { keywords: ["order"] }, slots, steps };

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

  it("is refused during a turn of the playbook, however many messages ago the answer was", async () => {
    const storage = memory();
    const hold = held<undefined>();
    const { engine, ask, say, pass, thread } = await agency(storage, {
      playbooks: [
        {
          ...order,
          slots: [...slots, { name: "size", type: "text", required: true, prompt: "Which size?" }],
          steps: steps.toSpliced(2, 0, { id: "size", type: "ask", slot: "size" }),
        },
      ],
      model: async ({ task }) => {
        await hold.promise;
        return task.type === "extract" ? { slots: { sure: true } } : { text: "I see." };
      },
    });
    await ask("order");
    await ask("kumquat 4111");
    const id = (await thread()).find(({ body }) => body === "kumquat 4111")?.id ?? "";
    await sendNotices(engine);
    await say("I guess that would be it");
    await pass();
    await expect(engine.messages.redact(id)).rejects.toMatchObject({ code: "conflict" });
    hold.answer(undefined);
    await pass();

    await engine.messages.redact(id);

    expect(await tablesWith(storage, ["kumquat"])).toEqual([]);
    expect(await ask("XL")).toEqual(["I see."]);
  });

  it("removes the answer from the inputs of actions, however many messages later they ran", async () => {
    const storage = memory();
    const { engine, ask, thread } = await agency(storage, {
      actions: [charge],
      playbooks: [
        {
          ...order,
          steps: steps.toSpliced(
            2,
            1,
            { id: "charge", type: "run", action: "charge", args: { card: "{{card}}" } },
            { id: "thank", type: "send", text: "Charged." },
          ),
        },
      ],
    });
    await ask("order");
    await ask("kumquat 4111");
    const id = (await thread()).find(({ body }) => body === "kumquat 4111")?.id ?? "";
    await sendNotices(engine);
    expect(await ask("yes")).toEqual(["Charged."]);

    await engine.messages.redact(id);

    expect(await tablesWith(storage, ["kumquat"])).toEqual([]);
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

it.each(["model", "rule"] as const)(
  "a redaction removes what a %s noted from the text, and not what a person did",
  async (source) => {
    const { engine, say, pass } = await agency(memory(), {
      model: {
        source,
        respond: ({ messages: heard }) => ({
          text: "I see.",
          observations: [{ content: heard.at(-1)?.text ?? "", kind: "any" }],
        }),
      },
    });
    const { id, contact_id } = await say("I am allergic to kumquats.");
    await pass();
    const noted = { content: "Has an allergy.", kind: "any", source: "human" } as const;
    await engine.contacts.addObservation(contact_id, { ...noted, evidence_message_ids: [id] });
    const sources = async () =>
      (await engine.contacts.observations(contact_id)).data.map((each) => each.source);
    expect(await sources()).toEqual(["human", source]);

    await engine.messages.redact(id);

    expect(await sources()).toEqual(["human"]);
  },
);

describe("while a merge moves the contact's history, a redaction removes the observation", () => {
  /** More rows of a kind than a merge moves in one transaction. */
  const many = Array.from({ length: 120 }, (_, n) => `${n}`);

  /** A message with an observation of it. The first part of a merge moves one of both. */
  async function observed(first: "observation" | "message") {
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
    if (first === "message") {
      for (const content of many) {
        await engine.contacts.addObservation(other, { content, kind: "any" });
      }
    } else {
      // The agent does not observe a keyword.
      for (const _ of many) await say("STOP");
      await say("START");
    }
    const { id } = await say("I am allergic to kumquats.");
    await pass();
    const owners = async () =>
      (await rowsOf(storage, observations)).flatMap(({ content, contact_id }) =>
        content.includes("kumquats") ? [contact_id] : [],
      );
    const mergeInPart = async (): Promise<void> => {
      // The merge commits, and then the first part of the history moves.
      dieAfter(2);
      expect(await outcome(engine.contacts.merge(survivor, other))).toBe("storage_unavailable");
      const isMessageFirst = first === "message";
      expect([
        (await world.engine(storage).messages.get(id)).contact_id,
        ...(await owners()),
      ]).toEqual(isMessageFirst ? [survivor, other] : [other, survivor]);
    };
    return { storage, world, id, owners, mergeInPart };
  }

  /** The storage, which calls `work` when a redaction has read an index for the first time. */
  function afterRead(
    storage: StoragePort,
    index: Index,
    work: () => Promise<unknown>,
  ): StoragePort {
    let isOver = false;
    return readingByIndex(storage, async (read) => {
      if (isOver || read !== index) return;
      isOver = true;
      await work();
    });
  }

  it.each(["observation", "message"] as const)("if the %s has moved first", async (first) => {
    const { storage, world, id, owners, mergeInPart } = await observed(first);
    await mergeInPart();
    await world.engine(storage).messages.redact(id);
    expect(await owners()).toEqual([]);
  });

  it("if the merge begins after the redaction has looked for the contact", async () => {
    const { storage, world, id, owners, mergeInPart } = await observed("observation");
    const one = world.engine(afterRead(storage, contactById, mergeInPart));
    await one.messages.redact(id);
    expect(await owners()).toEqual([]);
  });

  it("if a job removes the quotes, since there are many runs", async () => {
    const { storage, world, id, owners, mergeInPart } = await observed("message");
    await withEarlierRuns(storage, 600);
    await mergeInPart();
    const stuck = withGroups(storage, {
      async commit(writes, group) {
        if (!writes.some(writesTo(observations, "insert"))) return group.commit(writes);
        await group.abort();
        throw new TidingsError("storage_unavailable", "The rest of the history cannot move.");
      },
    });
    const next = await world.started(stuck);
    await next.messages.redact(id);
    expect(await owners()).toHaveLength(1);
    await world.clock.advance(10_000);
    expect(await owners()).toEqual([]);
  });

  it("if that moves while the redaction looks for it", async () => {
    const { storage, world, id, owners, mergeInPart } = await observed("message");
    await mergeInPart();
    const next = world.engine(storage);
    const slow = afterRead(storage, observations.primary, async () => {
      await next.start();
      await world.clock.advance(120_000);
    });
    await world.engine(slow).messages.redact(id);
    expect(await owners()).toEqual([]);
  });
});

/** Schedules more messages than a turn has in its history. */
async function scheduleNotices({ messages }: MessagingEngine, at: number): Promise<void> {
  const send_at = new Date(at).toISOString();
  for (let i = 0; i < 32; i++) await messages.send({ to: visitor, body: `Notice ${i}`, send_at });
}

describe("a redaction of a message before many that were not sent", () => {
  const quoting = ({ messages }: ModelTurn): ModelAnswer => ({
    text: "Yes",
    intent: messages.map(({ text }) => text).join(" "),
  });

  it("removes the text from the run that read it, and not from one that did not", async () => {
    const storage = memory();
    const { engine, world, ask, say, pass, runs } = await agency(storage, { model: quoting });
    const { id } = await say("swordfish");
    await pass();
    await scheduleNotices(engine, world.clock.now() + 86_400_000);
    await ask("Hello");
    expect(JSON.stringify(await runs())).toMatch(/swordfish .*swordfish/);
    await sendNotices(engine);
    await ask("Are you there?");

    await engine.messages.redact(id);

    expect(await tablesWith(storage, ["swordfish"])).toEqual([]);
    const results = (await runs()).map(({ result }) => result);
    expect(results).toEqual([null, null, expect.objectContaining({ intent: expect.anything() })]);
  });

  it("is refused while a run may be reading it", async () => {
    const gate = held<undefined>();
    const { engine, world, say, pass, runs } = await agency(memory(), {
      model: async (turn) => {
        if (turn.messages.length > 1) await gate.promise;
        return quoting(turn);
      },
    });
    const { id } = await say("swordfish");
    await pass();
    await scheduleNotices(engine, world.clock.now() + 86_400_000);
    await say("Hello");
    await pass(3_000);
    expect(await outcome(engine.messages.redact(id))).toBe("conflict");

    gate.answer(undefined);
    await pass();
    expect(await outcome(engine.messages.redact(id))).toBe("done");
    expect(JSON.stringify(await runs())).not.toContain("swordfish");
  });
});

it("a redaction succeeds when the waiting actions of a deleted agent were denied", async () => {
  let calls = 0;
  const pay = actionOf({
    name: "pay_out",
    input: z.strictObject({ said: z.string() }),
    risk: "approval",
    idempotent: false,
    execute: () => ({ calls: ++calls }),
  });
  const { engine, agent, say, pass, runs } = await agency(memory(), {
    actions: [pay],
    model: ({ messages }) => ({
      calls: [{ action: "pay_out", input: { said: messages.at(-1)?.text ?? "" } }],
    }),
  });
  const { id, conversation_id } = await say("swordfish");
  await pass();
  const input = { said: "now" };
  await engine.agents.trigger(agent.id, { conversation_id, action: "pay_out", input });
  await pass();
  await engine.agents.remove(agent.id);
  expect(await outcome(engine.messages.redact(id))).toBe("conflict");
  for (const run of await runs()) {
    expect(run.status).toBe("awaiting_approval");
    const decide = (decision: "approve" | "deny"): Promise<string> =>
      outcome(engine.agents.approve(agent.id, run.id, { decision }));
    expect([await decide("approve"), await decide("deny")]).toEqual(["conflict", "done"]);
  }
  await pass();
  expect([await outcome(engine.messages.redact(id)), calls]).toEqual(["done", 0]);
  const ended = await runs();
  expect(ended).toMatchObject([{ status: "canceled" }, { status: "canceled" }]);
  expect(JSON.stringify(ended)).not.toContain("swordfish");
});

it("a redaction before an agent has answered leaves the model a mark in place of the text", async () => {
  const { engine, ask, say, pass, seen, replies } = await agency(memory());
  await ask("Hello");
  const { id } = await say("My card is 4242");
  await engine.messages.redact(id);
  await pass();
  const texts = seen.at(-1)?.messages.map(({ from, text }) => `${from}: ${text}`);
  expect(texts).toEqual(["contact: Hello", "agent: You said: Hello", "contact: [redacted]"]);
  expect((await replies()).slice(1)).toEqual(["You said: [redacted]"]);
});
