import type { AgentId, ConversationId, RunId } from "../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  scoped,
  text,
  time,
  type RowOf,
} from "../ports/index.ts";
import type { Frame } from "./playbooks/play/frames.ts";
import type { AgentDefinition } from "./types.ts";

/** The maximum number of agents per account and mode. */
export const maxAgents = 100;

export const agents = scoped("agents", {
  id: text<AgentId>(),
  /**
   * A number from 0, below the account's maximum of agents. It is unique, which enforces the
   * maximum.
   */
  ordinal: integer(),
  /** Null if disabled, so that the index contains enabled agents only. */
  enabled: nullable(boolean<true>()),
  /**
   * The number of the current version. (`version` is the row's version guard.)
   */
  revision: integer(),
  /**
   * These columns copy the parts of the definition that are searched. The whole definition is in
   * the version's row.
   */
  name: text(),
  channels: json<AgentDefinition["channels"]>(),
  senders: nullable(json<AgentDefinition["senders"]>()),
  playbook_ids: json<AgentDefinition["playbook_ids"]>(),
  created_at: time(),
  updated_at: time(),
});
export interface AgentRow extends RowOf<typeof agents> {}

export const agentById = agents.key("id");
export const agentByOrdinal = agents.unique("by_ordinal", ["ordinal"]);
/** Oldest first. If several agents match a message, the oldest one answers. */
export const enabledAgents = agents.index("enabled", ["id"], {
  where: { column: "enabled", present: true },
});

/**
 * The versions of an agent. A conversation keeps the version that it started with. An old version
 * is removed when it has not been used for the retention time: see `agentVersionReaper`.
 */
export const agentVersions = scoped("agent_versions", {
  agent_id: text<AgentId>(),
  revision: integer(),
  definition: json<AgentDefinition>(),
  created_at: time(),
  /**
   * When the version was replaced, or later was last found in use. Null while it is the agent's
   * current version.
   */
  last_used_at: nullable(time()),
});

export const agentVersionOf = agentVersions.key("agent_id", "revision");
/** Old versions of all accounts, the least recently used first. */
export const agentVersionsByUse = agentVersions.acrossScopes.index(
  "by_last_used_at",
  ["last_used_at"],
  {
    where: { column: "last_used_at", present: true },
  },
);

/**
 * The triggers of an agent within the last minute. They have a row of their own, because turns hold
 * the agent's row and a trigger would make them run again.
 */
export const agentTriggers = scoped("agent_triggers", {
  agent_id: text<AgentId>(),
  /** In milliseconds, oldest first. */
  triggered_at: json<readonly number[]>(),
});

export const triggersOfAgent = agentTriggers.key("agent_id");

/** An agent's state in one conversation. */
export const agentSessions = scoped("agent_sessions", {
  conversation_id: text<ConversationId>(),
  agent_id: text<AgentId>(),
  agent_revision: integer(),
  /** The frames of the playbooks, innermost last. Empty if none is being played. */
  frames: json<readonly Frame[]>(),
  /** True while there are frames, or else null, so that the index contains only these sessions. */
  playing: nullable(boolean<true>()),
  /** The run whose approval the playbook waits for. */
  paused_by: nullable(text<RunId>()),
  /**
   * Sequence number of the last message that the agent need not answer. Later messages are new to
   * it.
   */
  heard_through: integer(),
  /**
   * Sequence number of the last message before the agent got the conversation, or got it back from
   * people. The loop guard counts only later messages.
   */
  guarded_from: integer(),
  /** Replies since the session started or was handed back. */
  turns: integer(),
  /** Input and output tokens that models have used. */
  tokens: integer(),
  /** Consecutive failed attempts. */
  failed_attempts: integer(),
  /** Times of the replies within the last minute. */
  replied_at: json<readonly number[]>(),
  /** When the conversation entered the queue. Null if no queue timeout applies. In milliseconds. */
  queued_at: nullable(time()),
  /**
   * True after a hand-off without a queue timeout, until the agent gets the conversation back.
   * Otherwise null.
   */
  handed_off_for_good: nullable(boolean<true>()),
  created_at: time(),
  updated_at: time(),
});
export interface AgentSessionRow extends RowOf<typeof agentSessions> {}

export const agentSessionOf = agentSessions.key("conversation_id");
/** Finds out whether a version of an agent is in use. */
export const sessionsOfVersion = agentSessions.byId.index("by_agent_version", [
  "agent_id",
  "agent_revision",
]);
/** The sessions that are playing a playbook. */
export const playingSessions = agentSessions.index("playing", ["conversation_id"], {
  where: { column: "playing", present: true },
});

/** Returns the columns of a session with these frames. */
export function frameColumns(
  frames: readonly Frame[],
): Pick<AgentSessionRow, "frames" | "playing"> {
  return { frames, playing: frames.length > 0 || null };
}
