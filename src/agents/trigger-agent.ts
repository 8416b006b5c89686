import { ownAccount } from "../accounts/index.ts";
import {
  contactById,
  contacts,
  findRecipient,
  findSurvivor,
  unknownContact,
} from "../contacts/index.ts";
import {
  beginConversation,
  conversationById,
  conversations,
  currentConversation,
  findConversation,
  isActive,
  type ConversationRow,
} from "../conversations/index.ts";
import {
  admitOneMore,
  firstTimeZone,
  inBody,
  invalid,
  mediums,
  minuteMs,
  TidingsError,
  withId,
  wrongKind,
  type ById,
  type FieldError,
} from "../kernel/index.ts";
import type { Command, Services } from "../operations/index.ts";
import { StorageConflict, type Json, type Seen } from "../ports/index.ts";
import { arm } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { checkTriggerInput } from "./actions/call-action.ts";
import { unknownAction } from "./actions/show-actions.ts";
import { agentToChange, currentDefinition } from "./find-agent.ts";
import { giveToAgent } from "./handling/change-handler.ts";
import { openSession } from "./handling/session.ts";
import { triggeredTurnJob } from "./job-orders.ts";
import { validValue, type AnswerContext } from "./playbooks/play/slots.ts";
import { playbookById } from "./playbooks/rows.ts";
import type { Slot } from "./playbooks/slot-types.ts";
import { agentSessionOf, agentTriggers, triggersOfAgent, type AgentRow } from "./rows.ts";
import { triggerAgentSchema, type TriggerAgent } from "./runs/input-types.ts";
import { runResource } from "./runs/show.ts";
import type { Run, RunRequest } from "./runs/types.ts";
import { beginRun } from "./runs/write-run.ts";

/**
 * Starts a run of a playbook or a single action in a conversation. A job carries it out. A
 * conversation without a handler is assigned to the agent, which also answers the contact's
 * unanswered messages.
 */
export const triggerAgent: Command<TriggerAgent & ById, Run> = {
  kind: "command",
  name: "agents.trigger",
  input: () => withId(triggerAgentSchema, "The id of the agent. It must be enabled."),
  status: 202,
  // An error may name members of the input, which can be anything.
  shows: ({ contact_id, conversation_id = null }, run) => run?.id ?? contact_id ?? conversation_id,
  async touch(tx, { contact_id, conversation_id }) {
    const [contact, conversation] = await Promise.all([
      contact_id && tx.get(contactById, [contact_id]),
      conversation_id && tx.get(conversationById, [conversation_id]),
    ]);
    if (contact) tx.touch(contacts, contact);
    if (conversation) tx.touch(conversations, conversation);
  },
  async check({ action: name = "", input = {} }, { services, ...call }) {
    const action = services.actions.get(name);
    return action && checkTriggerInput(action, input, call);
  },
  async run(tx, { id, ...asked }, { services }) {
    const agent = await agentToChange(tx, id, { hold: true });
    if (agent.enabled !== true) throw new TidingsError("conflict", "The agent is disabled.");
    const found = await findTriggeredConversation(tx, asked);
    const request = await requestOf(tx, services, found, asked);
    await checkHandler(tx, found, agent, request);
    await countTrigger(tx, agent);
    const conversation =
      found.handler === "none" ? (await giveToAgent(tx, found, agent)).conversation : found;
    // A single action does not use the session, which may belong to another agent by the time the
    // action is called.
    const { agent_revision } =
      request.type === "action"
        ? { agent_revision: agent.revision }
        : await openSession(tx, conversation, agent);
    const run = beginRun(tx, conversation, {
      agent_id: agent.id,
      agent_revision,
      playbook_id: request.type === "playbook" ? request.playbook_id : null,
      trigger: "api",
      request,
    });
    await arm(tx, triggeredTurnJob(conversation, tx.now));
    return runResource(run);
  },
};

/**
 * Counts a trigger of the agent.
 * @throws TidingsError `rate_limited` if its limit per minute is used up
 */
async function countTrigger(tx: Tx, agent: AgentRow): Promise<void> {
  const [{ limits }, before] = await Promise.all([
    currentDefinition(tx, agent),
    tx.get(triggersOfAgent, [agent.id]),
  ]);
  const max = limits.max_triggers_per_minute;
  const limit = { max, windowMs: minuteMs };
  const decision = admitOneMore(before?.triggered_at ?? [], limit, tx.now);
  if (!decision.admitted) {
    const { retryAfterMs } = decision;
    throw new TidingsError(
      "rate_limited",
      `The agent was triggered ${max} times within a minute, which is its limit ` +
        "`max_triggers_per_minute`. Trigger it again later.",
      { retryAfterMs },
    );
  }
  const triggered_at = decision.times;
  if (before === undefined) tx.insert(agentTriggers, { agent_id: agent.id, triggered_at });
  else tx.update(agentTriggers, before, { triggered_at });
}

/**
 * Checks that the agent may act in the conversation. An action sends nothing, so it may run while
 * people handle the conversation. A playbook may not: it would interrupt them.
 * @throws TidingsError `conflict`
 */
async function checkHandler(
  tx: Tx,
  { id, handler, assignee_id }: ConversationRow,
  agent: AgentRow,
  { type }: RunRequest,
): Promise<void> {
  if (handler === "none") return;
  if (handler !== "ai" && type === "playbook") {
    throw new TidingsError(
      "conflict",
      "People handle the conversation. Hand it back to the agent first.",
    );
  }
  const session = await tx.get(agentSessionOf, [id]);
  const conflictingId = handler === "ai" ? assignee_id : (session?.agent_id ?? agent.id);
  if (conflictingId === null || conflictingId === agent.id) return;
  throw new TidingsError("conflict", "Another agent handles the conversation.", { conflictingId });
}

/**
 * Finds the conversation to run in: the given one, or the contact's active conversation with the
 * latest activity, or a new text conversation. The row is held, so that a concurrent erasure of
 * the contact runs either before this or after it.
 * @throws TidingsError `validation_failed`; `conflict` if the conversation is closed
 */
async function findTriggeredConversation(
  tx: Tx,
  { contact_id, conversation_id }: Pick<TriggerAgent, "contact_id" | "conversation_id">,
): Promise<Seen<ConversationRow>> {
  if (contact_id !== undefined) return ofContact(tx, contact_id);
  const found = conversation_id && (await hold(tx, conversation_id));
  if (!found) {
    const message = wrongKind("conversation", conversation_id ?? "") ?? "no such conversation";
    throw invalid([{ pointer: "/conversation_id", code: "unknown_conversation", message }]);
  }
  if (found.status !== "closed") return found;
  throw new TidingsError("conflict", "The conversation is closed; open it first.");
}

async function ofContact(tx: Tx, id: string): Promise<Seen<ConversationRow>> {
  const contact = await findSurvivor(tx, id);
  if (contact === undefined) {
    throw unknownContact(id);
  }
  const found = await Promise.all(
    mediums.map((medium) => tx.get(currentConversation, [contact.id, medium])),
  );
  const [last] = found.filter(isActive).toSorted((a, b) => b.last_activity_at - a.last_activity_at);
  if (last !== undefined) {
    const latest = await hold(tx, last.id);
    if (isActive(latest)) return latest;
    throw new StorageConflict("the conversation was closed between two reads");
  }
  const identity = await findRecipient(tx, "text", contact.id, "/contact_id");
  if (identity === undefined) {
    throw new StorageConflict("the contact's address was removed between two reads");
  }
  return beginConversation(tx, identity, await findConversation(tx, identity));
}

function hold(tx: Tx, id: string): Promise<Seen<ConversationRow> | undefined> {
  return tx.get(conversationById, [id], { hold: true });
}

type Asked = Pick<TriggerAgent, "playbook_id" | "action" | "input">;

/**
 * Returns the request of a run. Slot values are checked here. The schema of an action has checked
 * its input before the transaction.
 * @throws TidingsError `validation_failed`; `conflict` if the playbook is disabled
 */
async function requestOf(
  tx: Tx,
  { actions, language, timeZone }: Pick<Services, "actions" | "language" | "timeZone">,
  conversation: ConversationRow,
  { playbook_id, action = "", input = {} }: Asked,
): Promise<RunRequest> {
  if (playbook_id === undefined) {
    if (actions.has(action)) return { type: "action", action, input };
    throw invalid([unknownAction("/action", action, actions)]);
  }
  const { contact_id } = conversation;
  const playbook = await tx.get(playbookById, [playbook_id], { hold: true });
  if (playbook === undefined) {
    const message = wrongKind("playbook", playbook_id) ?? "no playbook has this id";
    throw invalid([{ pointer: "/playbook_id", code: "unknown_playbook", message }]);
  }
  if (!playbook.enabled) {
    throw new TidingsError("conflict", "The playbook is disabled. Enable it first.");
  }
  const [contact, account] = await Promise.all([tx.get(contactById, [contact_id]), ownAccount(tx)]);
  const slots = checkedSlots(playbook.definition.slots, input, {
    language,
    now: tx.now,
    contact: {
      phone: contact?.phone ?? null,
      time_zone: firstTimeZone(contact?.time_zone, account?.time_zone, timeZone),
    },
  });
  return { type: "playbook", playbook_id: playbook.id, slots };
}

/** @throws TidingsError `validation_failed` */
function checkedSlots(
  slots: readonly Slot[],
  input: Json,
  context: AnswerContext,
): { readonly [name: string]: Json } {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    const message = "must be an object with slot values";
    throw invalid([{ pointer: "/input", code: "invalid_type", message }]);
  }
  const errors: FieldError[] = [];
  const values = Object.entries(input).map(([name, given]) => {
    const slot = slots.find((each) => each.name === name);
    const value = slot && validValue(slot, given, context);
    const place = inBody(["input", name]);
    if (slot === undefined) {
      errors.push({ ...place, code: "unknown_slot", message: "the playbook has no such slot" });
    } else if (value === undefined) {
      const message = `is not a valid ${slot.type} for the slot`;
      errors.push({ ...place, code: "invalid_slot", message });
    }
    return [name, value ?? null] as const;
  });
  if (errors.length > 0) throw invalid(errors);
  return Object.fromEntries(values);
}
