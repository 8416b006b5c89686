import { agentById, type AgentRow, agents, agentVersionOf } from "./rows.ts";
import type { RunRow } from "./runs/rows.ts";
import type { Agent, AgentDefinition } from "./types.ts";
import { type ById, byIdSchema, iso, notFound } from "../kernel/index.ts";
import { listQuery, type Query } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

export const getAgent: Query<ById, Agent> = {
  kind: "query",
  name: "agents.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const agent = await reads.get(agentById, [id]);
    if (agent === undefined) throw notFound("agent");
    const version = await reads.get(agentVersionOf, [agent.id, agent.revision]);
    // The version is missing if the agent was removed between the two reads.
    if (version === undefined) throw notFound("agent");
    return agentResource(agent, version.definition);
  },
};

/** Newest first. */
export const listAgents = listQuery({
  name: "agents.list",
  index: agents.primary,
  order: "descending",
  async show(rows, reads): Promise<Agent[]> {
    const current = rows.map(({ id, revision }) => [id, revision] as const);
    const versions = new Map(
      (await reads.getAll(agentVersionOf, current)).map((each) => [each.agent_id, each.definition]),
    );
    return rows.flatMap((agent) => {
      const definition = versions.get(agent.id);
      return definition === undefined ? [] : [agentResource(agent, definition)];
    });
  },
});

/** Shows an agent with the definition of its current version. */
export function agentResource(
  { id, enabled, revision, created_at, updated_at }: AgentRow,
  { name, ...others }: AgentDefinition,
): Agent {
  return {
    id,
    name,
    enabled: enabled === true,
    ...others,
    version: revision,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  };
}

/** @throws TidingsError `not_found` */
export async function agentToChange(
  tx: Tx,
  id: string,
  options?: ReadOptions,
): Promise<Seen<AgentRow>> {
  const agent = await tx.get(agentById, [id], options);
  if (agent === undefined) throw notFound("agent");
  return agent;
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

/** Returns the definition of an agent's current version. */
export async function findDefinition(tx: Tx, { id, revision }: AgentRow): Promise<AgentDefinition> {
  const version = await tx.get(agentVersionOf, [id, revision]);
  if (version === undefined) throw new TypeError("an agent has no version");
  return version.definition;
}
