import type { AccountId, AgentId, ConversationId, RunId } from "../kernel/ids.ts";
import { boolean, collection, integer, json, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Frame } from "./playbooks/types.ts";
import type { AgentDefinition } from "./types.ts";

export interface AgentRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly id: AgentId;
  /** One of as many as an account may have. */
  readonly slot: number;
  /** Null where it isn't: an index over those that are has no others. */
  readonly enabled: true | null;
  /** Its current version; each that there was is kept. */
  readonly revision: number;
  /** What it is found by, of that version; the rest, which may be long, is in the version's row. */
  readonly name: string;
  readonly channels: AgentDefinition["channels"];
  readonly senders: AgentDefinition["senders"];
  readonly playbook_ids: AgentDefinition["playbook_ids"];
  readonly created_at: number;
  readonly updated_at: number;
}

export const agents = collection<AgentRow>("agents", {
  account_id: text,
  mode: text,
  id: text,
  slot: integer,
  enabled: nullable(boolean),
  revision: integer,
  name: text,
  channels: json,
  senders: nullable(json),
  playbook_ids: json,
  created_at: time,
  updated_at: time,
});
export const agentById = agents.key("account_id", "mode", "id");
export const agentBySlot = agents.unique("by_slot", ["account_id", "mode", "slot"]);
/** The oldest first: of several that would answer, that is the one that does. */
export const enabledAgents = agents.index("enabled", ["account_id", "mode", "id"], {
  where: { column: "enabled", present: true },
});

/** An agent as it was: a conversation keeps the version that it began with. */
export interface AgentVersionRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly agent_id: AgentId;
  readonly revision: number;
  readonly definition: AgentDefinition;
  readonly created_at: number;
}

export const agentVersions = collection<AgentVersionRow>("agent_versions", {
  account_id: text,
  mode: text,
  agent_id: text,
  revision: integer,
  definition: json,
  created_at: time,
});
export const agentVersionOf = agentVersions.key("account_id", "mode", "agent_id", "revision");

/** What an agent keeps in mind of one conversation. */
export interface AgentSessionRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly conversation_id: ConversationId;
  readonly agent_id: AgentId;
  readonly agent_revision: number;
  /** Where its playbooks stand, the innermost last; empty without one. */
  readonly frames: readonly Frame[];
  /** The run that its playbook waits for: somebody is to approve an action. */
  readonly paused_by: RunId | null;
  /** The place in the conversation of the last message that needs no answer any more. */
  readonly heard: number;
  /** Replies since it began, or since people gave it back. */
  readonly turns: number;
  /** What models took for it, in and out. */
  readonly tokens: number;
  /** Turns in a row that did not get anywhere. */
  readonly failed_attempts: number;
  /** When it replied, within the last minute. */
  readonly replied_at: readonly number[];
  /** Since when people are waited for, where the agent does something about it when nobody comes; in milliseconds. */
  readonly queued_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export const agentSessions = collection<AgentSessionRow>("agent_sessions", {
  account_id: text,
  mode: text,
  conversation_id: text,
  agent_id: text,
  agent_revision: integer,
  frames: json,
  paused_by: nullable(text),
  heard: integer,
  turns: integer,
  tokens: integer,
  failed_attempts: integer,
  replied_at: json,
  queued_at: nullable(time),
  created_at: time,
  updated_at: time,
});
export const agentSessionOf = agentSessions.key("account_id", "mode", "conversation_id");
