import { byIdSchema, iso, notFound, type ById } from "../kernel/index.ts";
import { listQuery, type Query } from "../operations/index.ts";
import { agentById, agents, agentVersionOf, type AgentRow } from "./rows.ts";
import type { Agent, AgentDefinition } from "./types.ts";

export const getAgent: Query<ById, Agent> = {
  kind: "query",
  name: "agents.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const agent = await reads.get(agentById, [id]);
    if (agent === undefined) throw notFound("agent", id);
    const version = await reads.get(agentVersionOf, [agent.id, agent.revision]);
    // The version is missing if the agent was removed between the two reads.
    if (version === undefined) throw notFound("agent", id);
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
