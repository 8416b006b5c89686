import type { DrawId } from "../kernel/index.ts";
import { agentBySlot, agents, type AgentRow, agentVersions } from "./rows.ts";
import { mostAgents } from "./rules.ts";
import type { AgentDefinition } from "./types.ts";
import { canonicalJson } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { freeSlot } from "../senders/index.ts";

interface Agent {
  readonly definition: AgentDefinition;
  readonly enabled: boolean;
}

/**
 * Agents are written here alone, so that each version that there was is kept.
 * @throws TidingsError `conflict` when the account has as many as it may have
 */
export async function insertAgent(
  tx: Tx,
  drawId: DrawId,
  { definition, enabled }: Agent,
): Promise<Seen<AgentRow>> {
  const agent = tx.insert(agents, {
    id: drawId("agt"),
    slot: await freeSlot(tx, agentBySlot, mostAgents),
    enabled: enabled || null,
    revision: 1,
    ...foundBy(definition),
    created_at: tx.now,
    updated_at: tx.now,
  });
  keepVersion(tx, agent, definition);
  return agent;
}

/** A change of the definition makes a new version; whether it is enabled is no part of that. */
export function updateAgent(
  tx: Tx,
  before: Seen<AgentRow>,
  was: AgentDefinition,
  { definition, enabled }: Agent,
): Seen<AgentRow> {
  const isSame = canonicalJson(definition) === canonicalJson(was);
  if (isSame && enabled === (before.enabled === true)) return before;
  const revision = isSame ? before.revision : before.revision + 1;
  const patch = { ...foundBy(definition), revision, enabled: enabled || null, updated_at: tx.now };
  const after = tx.update(agents, before, patch);
  if (!isSame) keepVersion(tx, after, definition);
  return after;
}

function foundBy({ name, channels, senders, playbook_ids }: AgentDefinition) {
  return { name, channels, senders, playbook_ids };
}

function keepVersion(
  tx: Tx,
  { id: agent_id, revision }: AgentRow,
  definition: AgentDefinition,
): void {
  tx.insert(agentVersions, {
    agent_id,
    revision,
    definition,
    created_at: tx.now,
  });
}
