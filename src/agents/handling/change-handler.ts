import {
  assignConversationSchema,
  assigneeOf,
  changeConversation,
  handlerOnAssign,
  handlerOnHandBack,
  handOffConversationSchema,
  showConversation,
  touchActiveConversation,
  type AssignConversation,
  type Conversation,
  type ConversationRow,
  type HandOffConversation,
} from "../../conversations/index.ts";
import { byIdSchema, invalid, withId, type ById } from "../../kernel/index.ts";
import { showsOutput, type Command } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { turnJob } from "../job-orders.ts";
import { agentById, agentSessionOf, type AgentRow, type AgentSessionRow } from "../rows.ts";
import { beginRun, cancelAnswerRuns, messageColumns } from "../runs/write-run.ts";
import { answeredThrough, findUnanswered, unansweredSince } from "./answered-messages.ts";
import { handOff } from "./hand-off.ts";
import { makeHandler, openSession } from "./session.ts";

/**
 * Assigns a conversation to a person, an agent or nobody. A person who gives a conversation up
 * hands it off to the other people.
 */
export const assignConversation: Command<AssignConversation, Conversation> = {
  kind: "command",
  name: "conversations.assign",
  input: () => assignConversationSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, assignee }) {
    const conversation = await touchActiveConversation(tx, id);
    if (assignee?.type === "agent") {
      const agent = await tx.get(agentById, [assignee.id], { hold: true });
      if (agent === undefined) {
        throw invalid([
          { pointer: "/assignee/id", code: "unknown_agent", message: "no such agent" },
        ]);
      }
      return showConversation(tx, await assignToAgent(tx, conversation, agent));
    }
    const handler = handlerOnAssign(conversation.handler, assignee);
    if (handler === "queue" && conversation.handler === "human") {
      const reason = "The conversation was unassigned.";
      // A snooze stays: a person chose when the conversation needs somebody again.
      return showConversation(tx, await handOff(tx, conversation, { reason, keepsSnooze: true }));
    }
    const patch = {
      assignee_type: assignee?.type ?? null,
      assignee_id: assignee?.id ?? null,
      handler,
      // While an agent handles a conversation, nobody waits for a person. What the agent has not
      // answered waits for one from now on.
      ...(conversation.handler === "ai"
        ? { waiting_since: await unansweredSince(tx, conversation) }
        : {}),
    };
    return showConversation(tx, await changeConversation(tx, conversation, patch));
  },
};

/**
 * Puts a conversation in the queue for people. If it is already there, nothing changes and no event
 * is published.
 */
export const handOffConversation: Command<HandOffConversation & ById, Conversation> = {
  kind: "command",
  name: "conversations.handOff",
  input: () => withId(handOffConversationSchema, "The id of the conversation."),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, reason, summary = "" }) {
    const found = await touchActiveConversation(tx, id);
    return showConversation(tx, await handOff(tx, found, { reason, summary }));
  },
};

/**
 * Hands a conversation back to its agent, which takes it now: a snooze ends, even if the agent has
 * the conversation already. Without an agent, people give the conversation up, and nobody has it.
 * Without a handler, it stays unchanged.
 */
export const handBackConversation: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.handBack",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }) {
    const conversation = await touchActiveConversation(tx, id);
    const agent = await agentOf(tx, conversation);
    const assignee = agent === undefined ? null : ({ type: "agent", id: agent.id } as const);
    const handler = handlerOnHandBack(conversation.handler, assignee);
    if (handler === "ai" && agent !== undefined) {
      return showConversation(tx, await assignToAgent(tx, conversation, agent));
    }
    if (handler === conversation.handler) return showConversation(tx, conversation);
    const nobody = { handler, assignee_type: null, assignee_id: null };
    return showConversation(tx, await changeConversation(tx, conversation, nobody));
  },
};

/**
 * Returns the assigned agent, or else the agent that had the conversation before people; undefined
 * if it was deleted.
 */
async function agentOf(tx: Tx, conversation: ConversationRow): Promise<AgentRow | undefined> {
  const { id } = conversation;
  const assignee = assigneeOf(conversation);
  const agent_id =
    assignee?.type === "agent" ? assignee.id : (await tx.get(agentSessionOf, [id]))?.agent_id;
  return agent_id === undefined ? undefined : tx.get(agentById, [agent_id], { hold: true });
}

/**
 * Assigns a conversation to an agent. The agent answers what the contact has written since the last
 * answer.
 */
async function assignToAgent(
  tx: Tx,
  before: Seen<ConversationRow>,
  agent: AgentRow,
): Promise<Seen<ConversationRow>> {
  const { conversation, session } = await giveToAgent(tx, before, agent);
  const messages = await findUnanswered(tx, conversation, session);
  const isChanged = before.handler !== "ai" || before.assignee_id !== agent.id;
  if (isChanged) await cancelAnswerRuns(tx, conversation);
  if (messages.length === 0) return conversation;
  if (isChanged) {
    beginRun(tx, conversation, {
      agent_id: agent.id,
      agent_revision: session.agent_revision,
      playbook_id: null,
      trigger: "handback",
      ...messageColumns(messages),
    });
  }
  await arm(tx, turnJob(conversation, tx.now));
  return conversation;
}

interface Given {
  readonly conversation: Seen<ConversationRow>;
  readonly session: Seen<AgentSessionRow>;
}

/**
 * Makes an agent the handler of a conversation. A new session begins after the last answer of an
 * agent, a person or the host application; what came later is unanswered. So does an earlier
 * session of the agent if the conversation had no handler, because only the host application could
 * answer then.
 */
export async function giveToAgent(
  tx: Tx,
  before: Seen<ConversationRow>,
  agent: AgentRow,
): Promise<Given> {
  const heard_through = await answeredThrough(tx, before);
  const session = await openSession(tx, before, agent, { heard_through });
  return { conversation: await makeHandler(tx, before, agent), session };
}
