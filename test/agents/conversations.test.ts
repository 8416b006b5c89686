/** The same conversations with each kind of model. */
import { describe, expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { AgentModel } from "../../src/ports/agent-model.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Event } from "../../src/webhooks/event-catalog.ts";
import { call, jsonOf } from "../api/call.ts";
import { world, type LogLine } from "../support/engines/world.ts";
import { cases } from "../support/runs.ts";
import { embeddedStorages } from "../support/storage/storages.ts";
import {
  assistantConversations,
  beyondHelp,
  clerk,
  clerkConversations,
  hostActions,
  shopConversations,
  shopkeeper,
  shopPlaybooks,
  type Conversation,
} from "./sample-conversations.ts";
import { testModels, type TestModel } from "./test-models.ts";

interface Shop {
  readonly engine: MessagingEngine;
  /** The tools that a language model has called. */
  readonly tools: Set<string>;
  readonly called: { readonly action: string; readonly input: object; readonly contact: string }[];
  readonly handedOff: Event<"conversation.handoff">["data"][];
  readonly log: readonly LogLine[];
  /** Advances the clock by 10 s. The clock stands still while a model call is pending. */
  pass(): Promise<void>;
}

async function shop(storage: StoragePort, { make }: TestModel): Promise<Shop> {
  const { clock, log, engine: engineOf } = world();
  const tools = new Set<string>();
  const called: Shop["called"] = [];
  const handedOff: Shop["handedOff"] = [];
  const model = await make((tool) => tools.add(tool));
  const pendingCalls = new Set<unknown>();
  const respond: AgentModel["respond"] = async (turn, context) => {
    const pendingCall = Promise.resolve(model.respond(turn, context));
    pendingCalls.add(pendingCall);
    return pendingCall.finally(() => pendingCalls.delete(pendingCall));
  };
  const actions = hostActions(
    (action, input, { id }) => void called.push({ action, input, contact: id }),
  );
  const engine = engineOf(storage, {
    transports: [sandbox()],
    agents: { model: { respond }, actions },
  });
  await engine.start();
  engine.on("conversation.handoff", ({ data }) => void handedOff.push(data));
  return {
    engine,
    tools,
    called,
    handedOff,
    log,
    async pass() {
      let isOver = false;
      void clock.sleep(10_000).then(() => (isOver = true));
      await clock.advanceUntil(async () => {
        while (pendingCalls.size > 0) {
          await Promise.allSettled(pendingCalls);
          await clock.settle();
        }
        return isOver;
      });
    },
  };
}

interface Person {
  readonly contact_id: string;
  says(body: string): Promise<unknown>;
}

async function person(
  { engine }: Shop,
  channel: Conversation["channel"],
  phone: string,
): Promise<Person> {
  if (channel === undefined) {
    const { id } = await engine.contacts.create({ phone });
    return { contact_id: id, says: (body) => engine.sandbox.inbound({ from: phone, body }) };
  }
  const { id, token, contact_id } = await engine.webchat.open();
  const path = `/v1/webchat/sessions/${id}/messages`;
  let count = 0;
  return {
    contact_id,
    async says(body) {
      const asked = {
        method: "POST",
        path,
        key: token,
        body: { body, client_id: `c${++count}` },
      };
      const answer = await call(engine.api, asked);
      expect(answer.status, JSON.stringify(jsonOf(answer))).toBe(201);
    },
  };
}

/** Plays a conversation and checks its replies, calls, hand-off and observations. */
async function playConversation(
  there: Shop,
  { isLanguageModel }: TestModel,
  given: Conversation,
  phone = "+15005550001",
) {
  const { engine, tools, called, handedOff, log, pass } = there;
  tools.clear();
  const { contact_id, says } = await person(there, given.channel, phone);
  const thread = async () =>
    (await engine.contacts.messages(contact_id, { limit: 100 })).data.toReversed();
  const replies = async () =>
    (await thread()).filter(({ author }) => author.type === "agent").map(({ body }) => body);
  const { data: agents } = await engine.agents.list();
  const agent = agents[0]?.id ?? "";
  let replyCount = 0;
  for (const line of given.lines) {
    if ("says" in line) await says(line.says);
    else {
      const { data: waiting } = await engine.agents.runs(agent, { status: "awaiting_approval" });
      await engine.agents.approve(agent, waiting[0]?.id ?? "", {
        decision: line.decides,
        author_id: "anna",
      });
    }
    await pass();
    const newReplies = (await replies()).slice(replyCount);
    replyCount += newReplies.length;
    const parts = line.hears === null ? [] : [line.hears].flat();
    expect(newReplies, JSON.stringify(line)).toHaveLength(line.hears === null ? 0 : 1);
    for (const part of parts) expect(newReplies[0], JSON.stringify(line)).toContain(part);
  }

  const { data: conversations } = await engine.contacts.conversations(contact_id);
  const end = given.handedOff;
  expect(conversations).toMatchObject([
    { medium: given.channel ?? "text", handler: end === undefined ? "ai" : "queue" },
  ]);
  const calls = called.filter(({ contact }) => contact === contact_id);
  expect(calls).toEqual((given.calls ?? []).map((each) => ({ ...each, contact: contact_id })));
  const told = handedOff.filter(({ conversation_id }) => conversation_id === conversations[0]?.id);
  expect(told).toMatchObject(
    end === undefined ? [] : [{ rule: end.rule, reason: expect.stringMatching(end.reason) }],
  );

  expect(tools).toEqual(new Set(isLanguageModel ? given.takes : []));
  expect(log.filter((line) => line.message === "a model failed")).toEqual([]);
  const said = await thread();
  const notices = isLanguageModel ? (given.notices ?? []) : [];
  expect((await engine.contacts.observations(contact_id)).data).toMatchObject(
    notices.map(({ content, kind, evidence }) => ({
      content,
      kind,
      source: "model",
      evidence_message_ids: [said.find(({ body }) => body === evidence)?.id],
    })),
  );
}

/** In `npm test`, the newest specification stands for all of them. */
const modelsHere = cases(testModels, ({ name }) => !/v[23]$/.test(name));

/** In `npm test`, each model has every other conversation, and its neighbor the rest. */
function conversationsOf(model: TestModel, all: readonly Conversation[]): readonly Conversation[] {
  const place = modelsHere.indexOf(model);
  return cases([...all.entries()], ([i]) => (i + place) % 2 === 0).map(([, each]) => each);
}

describe.each(modelsHere)("a contact of an agent with the model $name", (testModel) => {
  test.each(conversationsOf(testModel, shopConversations))("$title", async (conversation) => {
    const there = await shop(memory(), testModel);
    const { engine } = there;
    const playbooks = await Promise.all(
      shopPlaybooks.map((playbook) => engine.playbooks.create(playbook)),
    );
    await engine.agents.create({ ...shopkeeper, playbook_ids: playbooks.map(({ id }) => id) });
    await playConversation(there, testModel, conversation);
  });
});

describe.each(modelsHere.filter(({ isLanguageModel }) => isLanguageModel))(
  "a contact of an agent without playbooks, with the model $name",
  (testModel) => {
    test.each(conversationsOf(testModel, clerkConversations))("$title", async (conversation) => {
      const there = await shop(memory(), testModel);
      await there.engine.agents.create(clerk);
      await playConversation(there, testModel, conversation);
    });
  },
);

const grounds = cases(embeddedStorages, ({ name }) => name === "memory");
const ends = [testModels.slice(0, 1), testModels.slice(-1)].flat();

describe.each(grounds)("the assistant of a seeded sandbox on $name", ({ open }) => {
  test.each(ends)("answers all contacts with the model $name", async (testModel) => {
    const there = await shop(open().connect(), testModel);
    await there.engine.sandbox.seed();
    const given = testModel.isLanguageModel
      ? [...assistantConversations, beyondHelp]
      : assistantConversations;
    for (const [index, conversation] of given.entries()) {
      await playConversation(there, testModel, conversation, `+1500555${1_000 + index}`);
    }
  });
});
