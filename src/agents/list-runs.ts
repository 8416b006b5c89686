import { agentById } from "./rows.ts";
import { type ListRuns, listRunsSchema } from "./types.ts";
import { runResource } from "./runs/resource.ts";
import { type RunRow, runsOfAgent, runsOfConversation } from "./runs/rows.ts";
import type { Run } from "./runs/types.ts";
import { notFound, type Page } from "../kernel/index.ts";
import { mapPage, page, type Query, type Walk } from "../operations/index.ts";

/** Newest first. */
export const listRuns: Query<ListRuns, Page<Run>> = {
  kind: "query",
  name: "agents.runs",
  input: () => listRunsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { id, status, conversation_id } = filters;
    const agent = await reads.get(agentById, [id]);
    if (agent === undefined) throw notFound("agent");
    const where = { agent_id: agent.id, ...(status === undefined ? {} : { status }) };
    const stretch =
      conversation_id === undefined
        ? { index: runsOfAgent, prefix: [agent.id] }
        : { index: runsOfConversation, prefix: [conversation_id] };
    const asked = { operation: "agents.runs", filters, input: { limit, cursor } };
    const walk: Walk<RunRow> = { ...stretch, ...asked, order: "descending", where };
    return mapPage(await page(reads, walk, call), runResource);
  },
};
