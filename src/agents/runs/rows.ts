import type { AgentId, ConversationId, MessageId, PlaybookId, RunId } from "../../kernel/index.ts";
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
import type { ActionCall, Run, RunRequest, RunStatus, RunStep } from "./types.ts";

export const runs = scoped("runs", {
  id: text<RunId>(),
  agent_id: text<AgentId>(),
  agent_revision: integer(),
  playbook_id: nullable(text<PlaybookId>()),
  conversation_id: text<ConversationId>(),
  trigger: text<Run["trigger"]["type"]>(),
  /** The contact's that it answers. */
  message_ids: json<readonly MessageId[]>(),
  /** The place in the conversation of the last of them; 0 without any. */
  heard: integer(),
  /** What an API trigger asked for. */
  request: nullable(json<RunRequest>()),
  status: text<RunStatus>(),
  /** Whether there is work to do: null once it has ended, and while it waits for somebody. */
  open: nullable(boolean<true>()),
  /** It waited for somebody's approval, and goes on from there. */
  resumed: boolean(),
  steps: json<readonly RunStep[]>(),
  /** Its calls of actions, so that what was done is not done again. */
  calls: json<readonly ActionCall[]>(),
  result: json<Json>(),
  input_tokens: integer(),
  output_tokens: integer(),
  model_calls: integer(),
  /** Until when somebody may approve what it waits for. */
  approve_by: nullable(time()),
  created_at: time(),
  finished_at: nullable(time()),
});
export interface RunRow extends RowOf<typeof runs> {}

export const runById = runs.key("id");
export const runsOfAgent = runs.byId.index("by_agent", ["agent_id", "id"]);
export const runsOfConversation = runs.byId.index("by_conversation", ["conversation_id", "id"]);
/** What the conversation's next turn goes on with, the oldest first. */
export const openRuns = runs.byId.index("open", ["conversation_id", "id"], {
  where: { column: "open", present: true },
});
/** Waiting for somebody's approval. */
export const awaitingRuns = runs.byId.index("awaiting", ["conversation_id", "approve_by"], {
  where: { column: "approve_by", present: true },
});
