import type { ConversationRow } from "../conversations/index.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";
import { agentById, agentVersionOf, type AgentRow } from "./rows.ts";
import type { RunRow } from "./runs/rows.ts";
import type { AgentDefinition } from "./types.ts";

/** @throws TidingsError `not_found` */
export async function agentToChange(
  tx: Tx,
  id: string,
  options?: ReadOptions,
): Promise<Seen<AgentRow>> {
  const agent = await tx.get(agentById, [id], options);
  if (agent === undefined) throw notFound("agent", id);
  return agent;
}

/** Returns the agent that a conversation is assigned to, even if it may not answer. */
export async function assignedAgent(
  tx: Tx,
  { assignee_type, assignee_id }: ConversationRow,
): Promise<AgentRow | undefined> {
  if (assignee_type !== "agent" || assignee_id === null) return undefined;
  return tx.get(agentById, [assignee_id]);
}

export function mayAnswerIn(
  agent: AgentRow | undefined,
  { handler, status, assignee_id }: ConversationRow,
): agent is AgentRow {
  return (
    agent?.enabled === true && handler === "ai" && status !== "closed" && assignee_id === agent.id
  );
}

interface AgentInUse {
  readonly agent: AgentRow;
  readonly definition: AgentDefinition;
}

/**
 * Returns the agent of a run or a session, and its definition in the version that these use.
 * Undefined if the agent was deleted.
 */
export async function agentInUse(
  tx: Tx,
  { agent_id, agent_revision }: Pick<RunRow, "agent_id" | "agent_revision">,
): Promise<AgentInUse | undefined> {
  const [agent, version] = await Promise.all([
    tx.get(agentById, [agent_id]),
    tx.get(agentVersionOf, [agent_id, agent_revision]),
  ]);
  return agent && version && { agent, definition: version.definition };
}

export async function currentDefinition(
  tx: Tx,
  { id, revision }: AgentRow,
): Promise<AgentDefinition> {
  const version = await tx.get(agentVersionOf, [id, revision]);
  if (version === undefined) throw new TypeError("an agent has no version");
  return version.definition;
}
