import { agentById } from "../rows.ts";
import { runById, type RunRow, runsOfAgent, runsOfConversation } from "./rows.ts";
import type { Run } from "./types.ts";
import { type ListRuns, listRunsSchema, type RunOfAgent, runOfAgentSchema } from "./inputs.ts";
import { iso, isoOrNull, notFound, type Page } from "../../kernel/index.ts";
import { mapPage, page, type Query, type RangeList } from "../../operations/index.ts";

export const getRun: Query<RunOfAgent, Run> = {
  kind: "query",
  name: "agents.run",
  input: () => runOfAgentSchema,
  async run(reads, { id, run_id }) {
    const [agent, run] = await Promise.all([
      reads.get(agentById, [id]),
      reads.get(runById, [run_id]),
    ]);
    if (agent === undefined) throw notFound("agent");
    if (run?.agent_id !== agent.id) throw notFound("run");
    return runResource(run);
  },
};

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
    const walk: RangeList<RunRow> = { ...stretch, ...asked, order: "descending", where };
    return mapPage(await page(reads, walk, call), runResource);
  },
};

export function runResource(row: RunRow): Run {
  const {
    id,
    agent_id,
    agent_revision,
    playbook_id,
    conversation_id,
    trigger,
    message_ids,
    status,
    steps,
  } = row;
  const { result, input_tokens, output_tokens, model_calls, created_at, finished_at } = row;
  return {
    id,
    agent_id,
    agent_version: agent_revision,
    playbook_id,
    conversation_id,
    trigger: { type: trigger, message_ids: [...message_ids] },
    status,
    steps: [...steps],
    result,
    usage: { input_tokens, output_tokens, model_calls },
    created_at: iso(created_at),
    finished_at: isoOrNull(finished_at),
  };
}

/** Returns a run as its event contains it: without the inputs and outputs of its steps. */
export function runForEvent(row: RunRow): Run {
  const run = runResource(row);
  return { ...run, steps: run.steps.map((step) => ({ ...step, input: null, output: null })) };
}
