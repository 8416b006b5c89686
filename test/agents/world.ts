/** An engine with one agent and its model, and contacts that text it. */
import type { CreatePlaybook } from "../../src/agents/playbooks/input-types.ts";
import type { Agent, CreateAgent } from "../../src/agents/types.ts";
import type { Conversation } from "../../src/conversations/types.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { Action } from "../../src/host/actions.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Message } from "../../src/messages/types.ts";
import type { AgentModel, ModelAnswer, ModelTurn } from "../../src/ports/agent-model.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { carrier, type Carrier } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { world, type World } from "../support/engines/world.ts";

export const visitor = "+15005550101";

/** A playbook that asks for a mark and thanks for it. */
export const survey = {
  name: "Survey",
  trigger: { keywords: ["survey"] },
  slots: [{ name: "mark", type: "number" as const, required: true, prompt: "From 1 to 5?" }],
  steps: [
    { id: "ask", type: "ask" as const, slot: "mark" },
    { id: "thank", type: "send" as const, text: "Thank you for the {{mark}}." },
  ],
};

export interface AgencyOptions {
  readonly model?: AgentModel | AgentModel["respond"];
  readonly actions?: readonly Action[];
  readonly redact?: (text: string) => string;
  readonly agent?: Partial<CreateAgent>;
  readonly playbooks?: readonly CreatePlaybook[];
  readonly options?: Partial<EngineOptions>;
}

export interface Agency {
  readonly world: World;
  readonly engine: MessagingEngine;
  readonly line: Carrier;
  readonly agent: Agent;
  /** The model's inputs, in order. */
  readonly seen: ModelTurn[];
  /** A contact writes. */
  say(body: string, from?: string): Promise<Message>;
  /** A contact writes; returns the agent's new replies after 10 s. */
  ask(body: string, from?: string): Promise<string[]>;
  /** Advances the clock. */
  pass(ms?: number): Promise<void>;
  /**
   * Advances the clock by hours or days. Jobs run when they are due. In between, the clock jumps.
   */
  fastForward(ms: number): Promise<void>;
  /** The agent's replies in a conversation, oldest first. */
  replies(from?: string): Promise<string[]>;
  thread(from?: string): Promise<Message[]>;
  conversation(from?: string): Promise<Conversation>;
  /** The runs of the agent, oldest first. */
  runs(): Promise<Awaited<ReturnType<MessagingEngine["agents"]["run"]>>[]>;
}

/** Repeats the last message. */
export const echo = ({ messages }: ModelTurn): ModelAnswer => ({
  text: `You said: ${messages.at(-1)?.text}`,
});

export async function agency(storage: StoragePort, given: AgencyOptions = {}): Promise<Agency> {
  const {
    model = echo,
    actions = [],
    redact,
    agent: wishes = {},
    playbooks = [],
    options = {},
  } = given;
  const here = world();
  const seen: ModelTurn[] = [];
  const line = carrier();
  const mind: AgentModel = typeof model === "function" ? { respond: model } : model;
  const respond: AgentModel["respond"] = (turn, context) => {
    seen.push(turn);
    return mind.respond(turn, context);
  };
  const agents = {
    model: { source: mind.source, respond },
    actions,
    ...(redact === undefined ? {} : { redact }),
  };
  const engine = await here.started(storage, { transports: [line], agents, ...options });
  const made = await Promise.all(
    playbooks.map((playbook) => engine.playbooks.create({ enabled: true, ...playbook })),
  );
  const agent = await engine.agents.create({
    name: "Ada",
    channels: ["sms", "mms", "webchat"],
    playbook_ids: made.map(({ id }) => id),
    actions: actions.map(({ name }) => name),
    ...wishes,
  });

  const contactOf = async (phone: string): Promise<string> => {
    const { data } = await engine.contacts.list({ phone });
    return data[0]?.id ?? "";
  };
  const self: Agency = {
    world: here,
    engine,
    line,
    agent,
    seen,
    say: (body, from = visitor) => engine.sandbox.inbound({ from, body }),
    async ask(body, from = visitor) {
      const before = (await self.replies(from).catch(() => [])).length;
      await self.say(body, from);
      await self.pass();
      return (await self.replies(from)).slice(before);
    },
    async pass(ms = 10_000) {
      await here.clock.advance(ms);
    },
    fastForward: (ms) => fastForward(here.clock, storage, ms),
    async replies(from = visitor) {
      const thread = await self.thread(from);
      return thread.flatMap(({ author, body }) =>
        author.type === "agent" && body !== null ? [body] : [],
      );
    },
    async thread(from = visitor) {
      const { data } = await engine.contacts.messages(await contactOf(from), { limit: 100 });
      return data.toReversed();
    },
    async conversation(from = visitor) {
      const { data } = await engine.contacts.conversations(await contactOf(from));
      const [conversation] = data;
      if (conversation === undefined) throw new Error(`nobody has written from ${from}`);
      return conversation;
    },
    async runs() {
      const { data } = await engine.agents.runs(agent.id, { limit: 100 });
      return Promise.all(data.toReversed().map(({ id }) => engine.agents.run(agent.id, id)));
    },
  };
  return self;
}
