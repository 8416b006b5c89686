import { conversationById } from "../../conversations/index.ts";
import { definedFields, notFound, type Page } from "../../kernel/index.ts";
import { mapPage, page, type Query, type RangeList } from "../../operations/index.ts";
import type { Reads } from "../../store/index.ts";
import { agentById } from "../rows.ts";
import {
  listAllRunsSchema,
  listConversationRunsSchema,
  listRunsSchema,
  runOfAgentSchema,
  type ListAllRuns,
  type ListConversationRuns,
  type ListRuns,
  type RunOfAgent,
} from "./input-types.ts";
import {
  allAwaitingRuns,
  awaitingRuns,
  runById,
  runs,
  runsOfAgent,
  runsOfConversation,
  type RunRow,
} from "./rows.ts";
import { runResource } from "./show.ts";
import type { Run, RunStatus } from "./types.ts";

export const getRun: Query<RunOfAgent, Run> = {
  kind: "query",
  name: "agents.run",
  input: () => runOfAgentSchema,
  async run(reads, { id, run_id }) {
    const run = await reads.get(runById, [run_id]);
    if (run?.agent_id === id) return runResource(run);
    await checkAgent(reads, id);
    throw notFound("run");
  },
};

/** Lists the runs of an agent. */
export const listRuns: Query<ListRuns, Page<Run>> = {
  kind: "query",
  name: "agents.runs",
  input: () => listRunsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { id, status, conversation_id } = filters;
    await checkAgent(reads, id);
    const range =
      conversation_id === undefined
        ? rangeOf(status, { index: runsOfAgent, prefix: [id] }, allAwaiting)
        : rangeInConversation(status, conversation_id);
    const list: RangeList<RunRow> = {
      ...range,
      where: { agent_id: id, ...definedFields({ status }) },
      operation: "agents.runs",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, list, call), runResource);
  },
};

/** Lists the runs of all agents. */
export const listAllRuns: Query<ListAllRuns, Page<Run>> = {
  kind: "query",
  name: "runs.list",
  input: () => listAllRunsSchema,
  async run(reads, { limit, cursor, status }, call) {
    const list: RangeList<RunRow> = {
      ...rangeOf(status, { index: runs.primary, prefix: [] }, allAwaiting),
      where: definedFields({ status }),
      operation: "runs.list",
      filters: { status },
      input: { limit, cursor },
    };
    return mapPage(await page(reads, list, call), runResource);
  },
};

/** Lists the runs of all agents in a conversation. */
export const listConversationRuns: Query<ListConversationRuns, Page<Run>> = {
  kind: "query",
  name: "conversations.runs",
  input: () => listConversationRunsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { id, status } = filters;
    if ((await reads.get(conversationById, [id])) === undefined) throw notFound("conversation");
    const list: RangeList<RunRow> = {
      ...rangeInConversation(status, id),
      where: definedFields({ status }),
      operation: "conversations.runs",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, list, call), runResource);
  },
};

type Range = Pick<RangeList<RunRow>, "index" | "prefix">;

/** All runs that wait for an approval. */
const allAwaiting: Range = { index: allAwaitingRuns, prefix: [] };

/**
 * Returns the range of a list: the newest run comes first. Those that wait for an approval are few
 * among all, so they have indexes of their own. Of these, the one whose deadline is next comes
 * first.
 */
function rangeOf(
  status: RunStatus | undefined,
  all: Range,
  awaiting: Range,
): Pick<RangeList<RunRow>, "index" | "prefix" | "order"> {
  return status === "awaiting_approval"
    ? { ...awaiting, order: "ascending" }
    : { ...all, order: "descending" };
}

const rangeInConversation = (status: RunStatus | undefined, id: string) =>
  rangeOf(
    status,
    { index: runsOfConversation, prefix: [id] },
    { index: awaitingRuns, prefix: [id] },
  );

/**
 * Checks that an agent exists or has existed. A removed agent is known by its runs, which stay.
 * @throws TidingsError `not_found`
 */
async function checkAgent(reads: Reads, id: string): Promise<void> {
  if ((await reads.get(agentById, [id])) !== undefined) return;
  const [run] = await reads.range({
    index: runsOfAgent,
    prefix: [id],
    order: "ascending",
    limit: 1,
  });
  if (run === undefined) throw notFound("agent");
}
