import { conversationById } from "../../conversations/index.ts";
import { definedFields, notFound, withId, type ById, type Page } from "../../kernel/index.ts";
import { mapPage, page, type Call, type Query, type RangeList } from "../../operations/index.ts";
import type { Reads } from "../../store/index.ts";
import { agentById } from "../rows.ts";
import {
  listAgentRunsSchema,
  listRunsSchema,
  runOfAgentSchema,
  type ListAgentRuns,
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
import type { Run } from "./types.ts";

export const getRun: Query<RunOfAgent, Run> = {
  kind: "query",
  name: "agents.run",
  input: () => runOfAgentSchema,
  async run(reads, { id, run_id }) {
    const run = await reads.get(runById, [run_id]);
    if (run?.agent_id === id) return runResource(run);
    await checkAgent(reads, id);
    throw notFound("run", run_id);
  },
};

export const listAgentRuns: Query<ListAgentRuns & ById, Page<Run>> = {
  kind: "query",
  name: "agents.runs",
  input: () => withId(listAgentRunsSchema, "The id of the agent."),
  async run(reads, input, call) {
    const { id, conversation_id } = input;
    await checkAgent(reads, id);
    const ranges =
      conversation_id === undefined
        ? { all: { index: runsOfAgent, prefix: [id] }, awaiting: allAwaiting }
        : rangesInConversation(conversation_id);
    return runPage(reads, call, { operation: "agents.runs", input, ...ranges, agent_id: id });
  },
};

export const listRuns: Query<ListRuns, Page<Run>> = {
  kind: "query",
  name: "runs.list",
  input: () => listRunsSchema,
  run(reads, input, call) {
    const ranges = { all: { index: runs.primary, prefix: [] }, awaiting: allAwaiting };
    return runPage(reads, call, { operation: "runs.list", input, ...ranges });
  },
};

export const listConversationRuns: Query<ListRuns & ById, Page<Run>> = {
  kind: "query",
  name: "conversations.runs",
  input: () => withId(listRunsSchema, "The id of the conversation."),
  async run(reads, input, call) {
    const { id } = input;
    if ((await reads.get(conversationById, [id])) === undefined) throw notFound("conversation", id);
    const ranges = rangesInConversation(id);
    return runPage(reads, call, { operation: "conversations.runs", input, ...ranges });
  },
};

/** Where a list finds its runs. */
interface Ranges {
  readonly all: Pick<RangeList<RunRow>, "index" | "prefix">;
  /** Those that wait for an approval. They are few, so they have indexes of their own. */
  readonly awaiting: Ranges["all"];
}

const allAwaiting: Ranges["awaiting"] = { index: allAwaitingRuns, prefix: [] };

const rangesInConversation = (id: string): Ranges => ({
  all: { index: runsOfConversation, prefix: [id] },
  awaiting: { index: awaitingRuns, prefix: [id] },
});

interface RunList extends Ranges {
  readonly operation: string;
  /** All fields but `limit` and `cursor` are filters. A cursor is valid only with the same ones. */
  readonly input: ListRuns;
  readonly agent_id?: string;
}

/**
 * Returns a page of runs: the newest run comes first. Of those that wait for an approval, the one
 * whose deadline is next comes first.
 */
async function runPage(
  reads: Reads,
  call: Call,
  { operation, input: { limit, cursor, ...filters }, all, awaiting, agent_id }: RunList,
): Promise<Page<Run>> {
  const { status } = filters;
  const isAwaiting = status === "awaiting_approval";
  const list: RangeList<RunRow> = {
    ...(isAwaiting ? awaiting : all),
    order: isAwaiting ? "ascending" : "descending",
    where: definedFields({ agent_id, status }),
    operation,
    filters,
    input: { limit, cursor },
  };
  return mapPage(await page(reads, list, call), runResource);
}

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
  if (run === undefined) throw notFound("agent", id);
}
