import type {
  AccountId,
  AgentId,
  ConversationId,
  MessageId,
  PlaybookId,
  RunId,
} from "../../kernel/ids.ts";
import {
  boolean,
  collection,
  integer,
  json,
  nullable,
  text,
  time,
} from "../../ports/collection.ts";
import type { Json } from "../../ports/agent-model.ts";
import type { Mode } from "../../kernel/scope.ts";
import type { ActionCall, Run, RunRequest, RunStatus, RunStep } from "./types.ts";

export interface RunRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: RunId;
  readonly agent_id: AgentId;
  readonly agent_revision: number;
  readonly playbook_id: PlaybookId | null;
  readonly conversation_id: ConversationId;
  readonly trigger: Run["trigger"]["type"];
  /** The contact's that it answers. */
  readonly message_ids: readonly MessageId[];
  /** The place in the conversation of the last of them; 0 without any. */
  readonly heard: number;
  /** What an API trigger asked for. */
  readonly request: RunRequest | null;
  readonly status: RunStatus;
  /** Whether there is work to do: null once it has ended, and while it waits for somebody. */
  readonly open: true | null;
  /** It waited for somebody's approval, and goes on from there. */
  readonly resumed: boolean;
  readonly steps: readonly RunStep[];
  /** Its calls of actions, so that what was done is not done again. */
  readonly calls: readonly ActionCall[];
  readonly result: Json;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly model_calls: number;
  /** Until when somebody may approve what it waits for. */
  readonly approve_by: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
}

export const runs = collection<RunRow>("runs", {
  account_id: text,
  mode: text,
  id: text,
  agent_id: text,
  agent_revision: integer,
  playbook_id: nullable(text),
  conversation_id: text,
  trigger: text,
  message_ids: json,
  heard: integer,
  request: nullable(json),
  status: text,
  open: nullable(boolean),
  resumed: boolean,
  steps: json,
  calls: json,
  result: json,
  input_tokens: integer,
  output_tokens: integer,
  model_calls: integer,
  approve_by: nullable(time),
  created_at: time,
  finished_at: nullable(time),
});
export const runById = runs.key("account_id", "mode", "id");
export const runsOfAgent = runs.index("by_agent", ["agent_id", "id"]);
export const runsOfConversation = runs.index("by_conversation", ["conversation_id", "id"]);
/** What the conversation's next turn goes on with, the oldest first. */
export const openRuns = runs.index("open", ["conversation_id", "id"], {
  where: { column: "open", present: true },
});
/** Waiting for somebody's approval. */
export const awaitingRuns = runs.index("awaiting", ["conversation_id", "approve_by"], {
  where: { column: "approve_by", present: true },
});
