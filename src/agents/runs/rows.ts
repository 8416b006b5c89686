import {
  type AgentId,
  type ConversationId,
  iso,
  isoOrNull,
  type MessageId,
  notFound,
  type Page,
  type PlaybookId,
  type RunId,
} from "../../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  type Json,
  nullable,
  type RowOf,
  scoped,
  text,
  time,
} from "../../ports/index.ts";
import type { RunStep } from "./step-types.ts";
import type { ActionCall, Run, RunRequest, RunStatus } from "./types.ts";
import { agentById } from "../rows.ts";
import { type ListRuns, listRunsSchema, type RunOfAgent, runOfAgentSchema } from "./input-types.ts";
import { mapPage, page, type Query, type RangeList } from "../../operations/index.ts";
import type { Reads } from "../../store/index.ts";

export const runs = scoped("runs", {
  id: text<RunId>(),
  agent_id: text<AgentId>(),
  agent_revision: integer(),
  playbook_id: nullable(text<PlaybookId>()),
  conversation_id: text<ConversationId>(),
  trigger: text<Run["trigger"]["type"]>(),
  /** The messages that it answers. */
  message_ids: json<readonly MessageId[]>(),
  /** The messages that it sent, oldest first. */
  sent_message_ids: json<readonly MessageId[]>(),
  /** The sequence number of the last message that the run answers; 0 if it answers none. */
  heard_through: integer(),
  /** What an API trigger asked for. Null if there was none. */
  request: nullable(json<RunRequest>()),
  status: text<RunStatus>(),
  /**
   * True while there is work to do. Null once the run has ended, and while it waits for an
   * approval.
   */
  open: nullable(boolean<true>()),
  /** Whether it continues after a wait for an approval. */
  resumed: boolean(),
  steps: json<readonly RunStep[]>(),
  /** Its calls of actions, recorded so that none is made twice. */
  calls: json<readonly ActionCall[]>(),
  result: json<Json>(),
  input_tokens: integer(),
  output_tokens: integer(),
  model_calls: integer(),
  /** The deadline of the approval that it waits for. */
  approve_by: nullable(time()),
  created_at: time(),
  finished_at: nullable(time()),
});
export interface RunRow extends RowOf<typeof runs> {}

export const runById = runs.key("id");
export const runsOfAgent = runs.byId.index("by_agent", ["agent_id", "id"]);
export const runsOfConversation = runs.byId.index("by_conversation", ["conversation_id", "id"]);
/** Finds out whether a version of an agent is in use. */
export const runsOfVersion = runs.byId.index("by_agent_version", ["agent_id", "agent_revision"]);
/** The runs that the conversation's next turn continues, oldest first. */
export const openRuns = runs.byId.index("open", ["conversation_id", "id"], {
  where: { column: "open", present: true },
});
/** Ended runs of all accounts, in the order in which they ended. */
export const runsByEnd = runs.acrossScopes.index("by_finished_at", ["finished_at"], {
  where: { column: "finished_at", present: true },
});
/** Runs that wait for an approval. */
export const awaitingRuns = runs.byId.index("awaiting", ["conversation_id", "approve_by"], {
  where: { column: "approve_by", present: true },
});

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

/** Newest first. */
export const listRuns: Query<ListRuns, Page<Run>> = {
  kind: "query",
  name: "agents.runs",
  input: () => listRunsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { id, status, conversation_id } = filters;
    await checkAgent(reads, id);
    const where = { agent_id: id, ...(status === undefined ? {} : { status }) };
    const range =
      conversation_id === undefined
        ? { index: runsOfAgent, prefix: [id] }
        : { index: runsOfConversation, prefix: [conversation_id] };
    const asked = { operation: "agents.runs", filters, input: { limit, cursor } };
    const list: RangeList<RunRow> = { ...range, ...asked, order: "descending", where };
    return mapPage(await page(reads, list, call), runResource);
  },
};

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

/** Returns the call that the next decision is about: the oldest that waits for one. */
export function callToDecide({
  status,
  calls,
}: Pick<RunRow, "status" | "calls">): ActionCall | undefined {
  return status === "awaiting_approval"
    ? calls.find((call) => call.status === "awaiting_approval")
    : undefined;
}

export function runResource(row: RunRow): Run {
  const {
    id,
    agent_id,
    agent_revision,
    playbook_id,
    conversation_id,
    trigger,
    message_ids,
    sent_message_ids,
    status,
    steps,
  } = row;
  const { result, input_tokens, output_tokens, model_calls, created_at, finished_at } = row;
  const call = callToDecide(row);
  return {
    id,
    agent_id,
    agent_version: agent_revision,
    playbook_id,
    conversation_id,
    trigger: { type: trigger, message_ids: [...message_ids] },
    status,
    approval: call === undefined ? null : { action: call.action, input: call.input },
    steps: [...steps],
    message_ids: [...sent_message_ids],
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
