import type { AgentId, ConversationId, RunId } from "../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  type RowOf,
  scoped,
  text,
  time,
} from "../ports/index.ts";
import type { Frame } from "./playbooks/types.ts";
import type { AgentDefinition } from "./types.ts";

export const agents = scoped("agents", {
  id: text<AgentId>(),
  /** One of as many as an account may have. */
  slot: integer(),
  /** Null where it isn't: an index over those that are has no others. */
  enabled: nullable(boolean<true>()),
  /** Its current version; each that there was is kept. */
  revision: integer(),
  /** What it is found by, of that version; the rest, which may be long, is in the version's row. */
  name: text(),
  channels: json<AgentDefinition["channels"]>(),
  senders: nullable(json<AgentDefinition["senders"]>()),
  playbook_ids: json<AgentDefinition["playbook_ids"]>(),
  created_at: time(),
  updated_at: time(),
});
export interface AgentRow extends RowOf<typeof agents> {}

export const agentById = agents.key("id");
export const agentBySlot = agents.unique("by_slot", ["slot"]);
/** The oldest first: of several that would answer, that is the one that does. */
export const enabledAgents = agents.index("enabled", ["id"], {
  where: { column: "enabled", present: true },
});

/** An agent as it was: a conversation keeps the version that it began with. */
export const agentVersions = scoped("agent_versions", {
  agent_id: text<AgentId>(),
  revision: integer(),
  definition: json<AgentDefinition>(),
  created_at: time(),
});
export interface AgentVersionRow extends RowOf<typeof agentVersions> {}

export const agentVersionOf = agentVersions.key("agent_id", "revision");

/** What an agent keeps in mind of one conversation. */
export const agentSessions = scoped("agent_sessions", {
  conversation_id: text<ConversationId>(),
  agent_id: text<AgentId>(),
  agent_revision: integer(),
  /** Where its playbooks stand, the innermost last; empty without one. */
  frames: json<readonly Frame[]>(),
  /** The run that its playbook waits for: somebody is to approve an action. */
  paused_by: nullable(text<RunId>()),
  /** The place in the conversation of the last message that needs no answer any more. */
  heard: integer(),
  /** Replies since it began, or since people gave it back. */
  turns: integer(),
  /** What models took for it, in and out. */
  tokens: integer(),
  /** Turns in a row that did not get anywhere. */
  failed_attempts: integer(),
  /** When it replied, within the last minute. */
  replied_at: json<readonly number[]>(),
  /** Since when people are waited for, where the agent does something about it when nobody comes; in milliseconds. */
  queued_at: nullable(time()),
  created_at: time(),
  updated_at: time(),
});
export interface AgentSessionRow extends RowOf<typeof agentSessions> {}

export const agentSessionOf = agentSessions.key("conversation_id");
