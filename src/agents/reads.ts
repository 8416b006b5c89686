import {
  type ById,
  byIdSchema,
  notFound,
  type Page,
  type PageQuery,
  pageQuerySchema,
} from "../kernel/index.ts";
import { page, type Query } from "../operations/index.ts";
import { agentResource } from "./resource.ts";
import { agentById, agents, agentVersionOf } from "./rows.ts";
import type { Agent } from "./types.ts";

export const getAgent: Query<ById, Agent> = {
  kind: "query",
  name: "agents.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const agent = await reads.get(agentById, [id]);
    if (agent === undefined) throw notFound("agent");
    const version = await reads.get(agentVersionOf, [agent.id, agent.revision]);
    // One that was changed or removed between the two reads is as good as read before that, or gone.
    if (version === undefined) throw notFound("agent");
    return agentResource(agent, version.definition);
  },
};

/** Newest first. */
export const listAgents: Query<PageQuery, Page<Agent>> = {
  kind: "query",
  name: "agents.list",
  input: () => pageQuerySchema,
  async run(reads, input, call) {
    const walk = {
      index: agents.primary,
      prefix: [],
      order: "descending",
      operation: "agents.list",
      filters: {},
      input,
    } as const;
    const found = await page(reads, walk, call);
    const keys = found.data.map(({ id, revision }) => [id, revision] as const);
    const versions = new Map(
      (await reads.getAll(agentVersionOf, keys)).map((each) => [each.agent_id, each.definition]),
    );
    const shown = found.data.flatMap((agent) => {
      const definition = versions.get(agent.id);
      return definition === undefined ? [] : [agentResource(agent, definition)];
    });
    return { ...found, data: shown };
  },
};
