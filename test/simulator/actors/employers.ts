import { agents, type AgentRow } from "../../../src/agents/rows.ts";
import type { CreateAgent } from "../../../src/agents/types.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import { conversations } from "../../../src/conversations/rows.ts";
import { playbooks } from "../../../src/agents/playbooks/rows.ts";
import type { CreatePlaybook } from "../../../src/agents/playbooks/types.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { Errand } from "../desk.ts";
import { allOf } from "../rows.ts";
import { actionNames } from "../works.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** More would each have little to say. */
const mostAgents = 3;

/** Asks, acts and tells; what it was told it doesn't repeat. */
export const bookings: CreatePlaybook = {
  name: "Book",
  enabled: true,
  trigger: { keywords: ["book"] },
  slots: [{ name: "what", type: "text", required: true, prompt: "What for?" }],
  steps: [
    { id: "ask", type: "ask", slot: "what" },
    { id: "reserve", type: "run", action: "reserve", args: { about: "{{what}}" } },
    { id: "charge", type: "run", action: "charge", args: { about: "{{what}}" }, on_error: "sorry" },
    { id: "done", type: "send", text: "It is booked.", next: "over" },
    { id: "sorry", type: "handoff", reason: "It could not be booked." },
    { id: "over", type: "resolve" },
  ],
};

/** Waits for somebody's approval. */
export const refunds: CreatePlaybook = {
  name: "Refund",
  enabled: true,
  trigger: { keywords: ["money"] },
  slots: [{ name: "what", type: "text", required: true, prompt: "What was it?" }],
  steps: [
    { id: "ask", type: "ask", slot: "what" },
    { id: "pay", type: "run", action: "refund", args: { about: "{{what}}" }, on_error: "sorry" },
    { id: "done", type: "send", text: "You have it back.", next: "charm" },
    { id: "charm", type: "instruct", text: "Be nice.", next: "over" },
    { id: "sorry", type: "send", text: "We can't do that." },
    { id: "over", type: "set", values: { paid: true } },
  ],
};

export function draftAgent({ dice, ground, words }: World): CreateAgent {
  const on = (
    ["customer_request", "model_error", "model_timeout", "action_failure", "guardrail"] as const
  ).filter(() => dice.chance(0.3));
  const numbers = [
    ...(dice.chance(0.3) ? [{ on: "confidence_below" as const, value: 0.1 }] : []),
    ...(dice.chance(0.3) ? [{ on: "failed_attempts" as const, value: 2 }] : []),
  ];
  return {
    name: `Agent ${words.draw()}`,
    channels: ["sms", "mms", "webchat"],
    playbook_ids: allOf(ground, playbooks).map(({ id }) => id),
    actions: actionNames.filter(() => dice.chance(0.8)),
    reply: { debounce_ms: dice.pick([0, 500, 3_000]) },
    handoff: {
      rules: [...on.map((cause) => ({ on: cause })), ...numbers],
      message: dice.chance(0.6) ? "Somebody will be with you." : null,
      queue_timeout_seconds: dice.pick([null, 10, 120]),
      on_no_humans: dice.pick(["stay_ai", "leave_message"]),
      resume_after_human: dice.chance(0.5),
    },
    limits: {
      timeout_ms: dice.pick([2_000, 10_000, 20_000]),
      max_ai_turns: dice.pick([3, 20]),
      max_steps_per_turn: dice.pick([3, 20]),
      max_replies_per_minute: dice.pick([2, 10]),
      max_tokens_per_conversation: dice.pick([1_000, 100_000]),
    },
  };
}

const employer: Actor = {
  name: "employer",
  part: "agents",
  weight: 0.3,
  async act(world) {
    if (allOf(world.ground, agents).length >= mostAgents) return;
    const input = draftAgent(world);
    await world.desk.run(`employs ${input.name}`, "", (engine, options) =>
      engine.agents.create(input, options),
    );
  },
};

type Chore = (
  world: World,
  agent: AgentRow,
) => { readonly does: string; readonly errand: Errand<unknown> };

const edit: Chore = (world, { id }) => {
  const { name, reply, handoff, limits } = draftAgent(world);
  return {
    does: "tells it other things",
    errand: (engine, options) =>
      engine.agents.update(id, { name, reply, handoff, limits }, options),
  };
};

const turn: Chore = ({ desk }, { id, enabled }) => {
  if (enabled === true) desk.dismissed.add(id);
  return {
    does: enabled === true ? "disables it" : "enables it",
    errand: (engine, options) => engine.agents.update(id, { enabled: enabled !== true }, options),
  };
};

const dismiss: Chore = ({ desk }, { id }) => {
  desk.dismissed.add(id);
  return { does: "dismisses it", errand: (engine, options) => engine.agents.remove(id, options) };
};

const chores = [
  { weight: 4, chore: edit },
  { weight: 3, chore: turn },
  { weight: 0.6, chore: dismiss },
];

const keeper: Actor = {
  name: "agents' keeper",
  part: "agents",
  weight: 0.6,
  async act(world) {
    const { desk, dice, ground } = world;
    const agent = dice.pick(allOf(ground, agents));
    if (agent === undefined) return;
    const { does, errand } = dice.weighted(chores).chore(world, agent);
    await desk.run(`${does}: ${agent.id}`, agent.id, errand);
  },
};

/** Has an agent do something in a conversation, or with somebody. */
const orderer: Actor = {
  name: "orderer",
  part: "agents",
  weight: 1,
  async act(world) {
    const { desk, dice, ground, words } = world;
    const agent = dice.pick(allOf(ground, agents));
    const conversation = dice.pick(allOf(ground, conversations).slice(-8));
    const contact = dice.pick(allOf(ground, contacts).slice(-8));
    const playbook = dice.pick(allOf(ground, playbooks));
    if (
      agent === undefined ||
      conversation === undefined ||
      contact === undefined ||
      playbook === undefined
    ) {
      return;
    }
    const isByContact = dice.chance(0.4);
    const where = isByContact ? { contact_id: contact.id } : { conversation_id: conversation.id };
    const contact_id = isByContact ? contact.id : conversation.contact_id;
    const handled = isByContact ? contact.id : conversation.id;
    const what = dice.chance(0.5)
      ? { playbook_id: playbook.id, ...(dice.chance(0.5) ? { input: { what: words.draw() } } : {}) }
      : { action: dice.pick(actionNames), input: { about: words.draw() } };
    desk.handling.begin(handled);
    desk.opening.begin(contact_id);
    const answer = await desk.run(
      `orders ${JSON.stringify(what)} of ${agent.id} in ${handled}`,
      [contact_id, agent.id],
      (engine, options) => engine.agents.trigger(agent.id, { ...where, ...what }, options),
    );
    if (answer.kind === "unknown") return;
    desk.handling.end(handled);
    desk.opening.end(contact_id);
  },
};

/** Says yes or no to what waits for it. */
export async function decide(world: World, share: number): Promise<void> {
  const { desk, dice, ground } = world;
  for (const run of allOf(ground, runs)) {
    if (run.status !== "awaiting_approval" || !dice.chance(share)) continue;
    const { id, agent_id, conversation_id } = run;
    const decision = dice.chance(0.7) ? "approve" : "deny";
    if (decision === "approve") desk.approvals.add(id);
    const contact =
      allOf(ground, conversations).find((each) => each.id === conversation_id)?.contact_id ?? "";
    await desk.run(
      `${decision === "approve" ? "approves" : "denies"} ${id}`,
      [contact, agent_id],
      (engine, options) =>
        engine.agents.approve(agent_id, id, { decision, author_id: "ann" }, options),
    );
  }
}

const approver: Actor = {
  name: "approver",
  part: "agents",
  weight: 1.5,
  act: (world) => decide(world, 0.5),
};

export const employers: readonly Actor[] = [employer, keeper, orderer, approver];
