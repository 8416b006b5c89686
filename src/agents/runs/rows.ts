import type { AgentId, ConversationId, MessageId, PlaybookId, RunId } from "../../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  scoped,
  text,
  time,
  type Json,
  type RowOf,
} from "../../ports/index.ts";
import type { RunStep } from "./step-types.ts";
import type { ActionCall, Run, RunRequest, RunStatus } from "./types.ts";

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
  /**
   * The lowest of the numbers that the messages in the histories of its turns got when they were
   * written. Null before a turn has stored what it did.
   */
  read_from: nullable(integer()),
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
/**
 * The same runs by what started them. A run that was triggered without a playbook calls a single
 * action.
 */
export const openByTrigger = runs.byId.index(
  "open_by_trigger",
  ["conversation_id", "trigger", "resumed", "playbook_id", "id"],
  { where: { column: "open", present: true } },
);
/** Ended runs of all accounts, in the order in which they ended. */
export const runsByEnd = runs.acrossScopes.index("by_finished_at", ["finished_at"], {
  where: { column: "finished_at", present: true },
});
/** The runs of a conversation that wait for an approval. */
export const awaitingRuns = runs.byId.index("awaiting", ["conversation_id", "approve_by"], {
  where: { column: "approve_by", present: true },
});
/** All runs that wait for an approval, in the order of their deadlines. */
export const allAwaitingRuns = runs.index("all_awaiting", ["approve_by"], {
  where: { column: "approve_by", present: true },
});
