import type { CreatePlaybook } from "../../../src/agents/playbooks/input-types.ts";
import { playbooks } from "../../../src/agents/playbooks/rows.ts";
import { agents, type AgentRow } from "../../../src/agents/rows.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { CreateAgent } from "../../../src/agents/types.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import { conversations } from "../../../src/conversations/rows.ts";
import { actionNames } from "../action-backend.ts";
import type { ApiCall } from "../operators.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** With more agents, each would have little to do. */
const maxAgents = 3;

/** Asks for a value, runs actions that must not be repeated, and ends the conversation. */
export const bookingPlaybook: CreatePlaybook = {
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

/** Runs an action that needs a person's approval. */
export const refundPlaybook: CreatePlaybook = {
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
    { id: "over", type: "set", values: { what: "paid" } },
  ],
};

/** Needs the model to read an answer and to write a text. */
export const complaintPlaybook: CreatePlaybook = {
  name: "Complain",
  enabled: true,
  trigger: { keywords: ["bad"] },
  slots: [
    { name: "where", type: "text", required: true, prompt: "Where?", enum: ["north", "south"] },
  ],
  steps: [
    { id: "calm", type: "instruct", text: "Say that we are sorry." },
    { id: "ask", type: "ask", slot: "where" },
    { id: "done", type: "send", text: "We will look into it.", next: "over" },
    { id: "over", type: "set", values: { where: "south" } },
  ],
};

export function draftAgent({ dice, database, words }: World): CreateAgent {
  const causes = (
    ["customer_request", "model_error", "model_timeout", "action_failure", "guardrail"] as const
  ).filter(() => dice.chance(0.3));
  const thresholds = [
    ...(dice.chance(0.3) ? [{ on: "confidence_below" as const, value: 0.1 }] : []),
    ...(dice.chance(0.3) ? [{ on: "failed_attempts" as const, value: 2 }] : []),
  ];
  return {
    name: `Agent ${words.next()}`,
    channels: ["sms", "mms", "webchat"],
    playbook_ids: allRows(database, playbooks).map(({ id }) => id),
    actions: actionNames.filter(() => dice.chance(0.8)),
    reply: { debounce_ms: dice.pick([0, 500, 3_000]) },
    handoff: {
      rules: [...causes.map((cause) => ({ on: cause })), ...thresholds],
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

const creator: Actor = {
  does: "An operator creates an agent.",
  group: "agents",
  weight: 0.3,
  async act(world) {
    if (allRows(world.database, agents).length >= maxAgents) return;
    const input = draftAgent(world);
    await world.operators.request(`create the agent ${input.name}`, "", (engine, options) =>
      engine.agents.create(input, options),
    );
  },
};

type Task = (
  world: World,
  agent: AgentRow,
) => { readonly does: string; readonly call: ApiCall<unknown> };

const edit: Task = (world, { id }) => {
  const { name, reply, handoff, limits } = draftAgent(world);
  return {
    does: "change",
    call: (engine, options) => engine.agents.update(id, { name, reply, handoff, limits }, options),
  };
};

const toggle: Task = ({ operators }, { id, enabled }) => {
  if (enabled === true) operators.removedAgents.add(id);
  return {
    does: enabled === true ? "disable" : "enable",
    call: (engine, options) => engine.agents.update(id, { enabled: enabled !== true }, options),
  };
};

const remove: Task = ({ operators }, { id }) => {
  operators.removedAgents.add(id);
  return { does: "delete", call: (engine, options) => engine.agents.remove(id, options) };
};

const tasks = [
  { weight: 4, task: edit },
  { weight: 3, task: toggle },
  { weight: 1.2, task: remove },
];

const maintainer: Actor = {
  does: "An operator changes, disables, enables or deletes an agent.",
  group: "agents",
  weight: 1,
  async act(world) {
    const { operators, dice, database } = world;
    const agent = dice.pick(allRows(database, agents));
    if (agent === undefined) return;
    const { does, call } = dice.weighted(tasks).task(world, agent);
    await operators.request(`${does} ${agent.id}`, agent.id, call);
  },
};

const triggerer: Actor = {
  does: "An operator triggers an action or a playbook in a conversation or for a contact.",
  group: "agents",
  weight: 2.5,
  async act(world) {
    const { operators, dice, database, words } = world;
    const agent = dice.pick(allRows(database, agents));
    const conversation = dice.pick(allRows(database, conversations).slice(-8));
    const contact = dice.pick(allRows(database, contacts).slice(-8));
    const playbook = dice.pick(allRows(database, playbooks));
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
    const target = isByContact ? contact.id : conversation.id;
    const what = dice.chance(0.5)
      ? { playbook_id: playbook.id, ...(dice.chance(0.5) ? { input: { what: words.next() } } : {}) }
      : { action: dice.pick(actionNames), input: { about: words.next() } };
    operators.assigning.begin(target);
    operators.opening.begin(contact_id);
    const answer = await operators.request(
      `trigger ${JSON.stringify(what)} of ${agent.id} in ${target}`,
      [contact_id, agent.id],
      (engine, options) => engine.agents.trigger(agent.id, { ...where, ...what }, options),
    );
    if (answer.kind === "unknown") return;
    operators.assigning.end(target);
    operators.opening.end(contact_id);
  },
};

/** Approves or denies the given share of the runs that wait for an approval. */
export async function decideApprovals(world: World, share: number): Promise<void> {
  const { operators, dice, database } = world;
  const contacts = new Map(
    allRows(database, conversations).map(({ id, contact_id }) => [id, contact_id]),
  );
  for (const run of allRows(database, runs)) {
    if (run.status !== "awaiting_approval" || !dice.chance(share)) continue;
    const { id, agent_id, conversation_id } = run;
    const decision = dice.chance(0.7) ? "approve" : "deny";
    if (decision === "approve") operators.approvedRuns.add(id);
    // The contact may be erased while an earlier request is answered.
    const contact = contacts.get(conversation_id) ?? "";
    await operators.request(`${decision} ${id}`, [contact, agent_id], (engine, options) =>
      engine.agents.approve(agent_id, id, { decision, author_id: "ann" }, options),
    );
  }
}

const approver: Actor = {
  does: "An operator approves or denies runs that wait for an approval.",
  group: "agents",
  weight: 4,
  act: (world) => decideApprovals(world, 0.8),
};

export const agentOperators: readonly Actor[] = [creator, maintainer, triggerer, approver];
