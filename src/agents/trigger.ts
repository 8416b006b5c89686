import { type DrawId, TidingsError } from "../kernel/index.ts";
import { agentSessionOf, type AgentRow } from "./rows.ts";
import { type TriggerAgent, triggerAgentSchema } from "./types.ts";
import { changeConversation, type ConversationRow } from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import { runResource } from "./runs/resource.ts";
import { turnJob } from "./runs/rules.ts";
import type { Run, RunRequest } from "./runs/types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { agentToChange } from "./find-agent.ts";
import { beginRun } from "./begin-run.ts";
import { openSession } from "./open-session.ts";
import { requestOf } from "./request-of.ts";
import { findTriggered } from "./find-triggered.ts";

/** Has an agent run a playbook or one action in a conversation, as soon as an engine gets to it. A conversation that nobody handles is its own then. */
export const triggerAgent: Command<TriggerAgent, Run> = {
  kind: "command",
  name: "agents.trigger",
  input: () => triggerAgentSchema,
  status: 202,
  shows: showsOutput,
  async run(tx, { id, ...asked }, { services }) {
    const agent = await agentToChange(tx, id, { hold: true });
    if (agent.enabled !== true) throw new TidingsError("conflict", "The agent is disabled.");
    const { drawId } = services;
    const found = await findTriggered(tx, drawId, asked);
    const request = await requestOf(tx, services, found, asked);
    await refuseOthers(tx, found, agent, request);
    // An action has no part in what an agent has in mind, which may be another agent by the time that it is called.
    const { agent_revision } =
      request.type === "action"
        ? { agent_revision: agent.revision }
        : await openSession(tx, found, agent);
    const conversation = await takeUp(tx, drawId, found, agent);
    const run = beginRun(tx, drawId, {
      agent_id: agent.id,
      agent_revision,
      playbook_id: request.type === "playbook" ? request.playbook_id : null,
      conversation_id: conversation.id,
      trigger: "api",
      request,
    });
    await arm(tx, turnJob(conversation, tx.now));
    return runResource(run);
  },
};

/** An action is nothing that anybody sees, and can be run while people have the conversation; a playbook would talk over them. */
async function refuseOthers(
  tx: Tx,
  { id, handler, assignee_id }: ConversationRow,
  agent: AgentRow,
  { type }: RunRequest,
): Promise<void> {
  if (handler === "none") return;
  if (handler !== "ai" && type === "playbook") {
    throw new TidingsError("conflict", "People handle the conversation.");
  }
  const session = await tx.get(agentSessionOf, [id]);
  const conflictingId = handler === "ai" ? assignee_id : (session?.agent_id ?? agent.id);
  if (conflictingId === null || conflictingId === agent.id) return;
  throw new TidingsError("conflict", "Another agent has the conversation.", { conflictingId });
}

function takeUp(
  tx: Tx,
  drawId: DrawId,
  conversation: Seen<ConversationRow>,
  agent: AgentRow,
): Promise<Seen<ConversationRow>> | Seen<ConversationRow> {
  if (conversation.handler !== "none") return conversation;
  const patch = { handler: "ai", assignee_type: "agent", assignee_id: agent.id } as const;
  return changeConversation(tx, drawId, conversation, patch);
}
