import {
  byIdSchema,
  invalid,
  TidingsError,
  withId,
  type ById,
  type FieldError,
} from "../kernel/index.ts";
import {
  canonicalJson,
  freeOrdinal,
  showsNothing,
  showsOutput,
  type Call,
  type Command,
} from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { unknownAction } from "./actions/show-actions.ts";
import { agentDefinitionOf, changedDefinition } from "./definition.ts";
import { agentToChange, currentDefinition } from "./find-agent.ts";
import { playbookById, playbooks } from "./playbooks/rows.ts";
import { agentResource } from "./reads.ts";
import {
  agentByOrdinal,
  agents,
  agentTriggers,
  agentVersionOf,
  agentVersions,
  maxAgents,
  triggersOfAgent,
  type AgentRow,
} from "./rows.ts";
import {
  createAgentSchema,
  updateAgentSchema,
  type Agent,
  type AgentDefinition,
  type CreateAgent,
  type UpdateAgent,
} from "./types.ts";

/** Creates an agent. Unless it is disabled, it answers messages from this commit on. */
export const createAgent: Command<CreateAgent, Agent> = {
  kind: "command",
  name: "agents.create",
  input: createAgentSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, input, call) {
    const { enabled = true } = input;
    await validateAgent(tx, call, { ...input, enabled });
    const definition = agentDefinitionOf(input);
    return agentResource(await insertAgent(tx, { definition, enabled }), definition);
  },
};

/**
 * Creates a new version of an agent. Its current conversations keep the version that they started
 * with.
 */
export const updateAgent: Command<UpdateAgent & ById, Agent> = {
  kind: "command",
  name: "agents.update",
  input: (limits) => withId(updateAgentSchema(limits), "The id of the agent."),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, ...change }, call) {
    const before = await agentToChange(tx, id);
    await validateAgent(tx, call, change);
    const { enabled = before.enabled === true } = change;
    const was = await currentDefinition(tx, before);
    const definition = changedDefinition(was, change);
    return agentResource(await writeAgent(tx, before, was, { definition, enabled }), definition);
  },
};

/**
 * Removes an agent. From this commit on it sends nothing. Its conversations go to people in their
 * next turn.
 */
export const removeAgent: Command<ById, void> = {
  kind: "command",
  name: "agents.remove",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  async run(tx, { id }) {
    const agent = await agentToChange(tx, id);
    tx.remove(agents, agent);
    await retireVersion(tx, agent);
    const triggers = await tx.get(triggersOfAgent, [id]);
    if (triggers !== undefined) tx.remove(agentTriggers, triggers);
  },
};

/**
 * Checks that the agent's playbooks and actions exist and, if it is enabled, that a model is set
 * up. The playbooks are written too: a concurrent removal of one of them then conflicts with this
 * transaction.
 * @throws TidingsError `validation_failed`; `not_configured` if no model is set up: contacts would
 * wait for ever
 */
async function validateAgent(
  tx: Tx,
  { services }: Pick<Call, "services">,
  {
    enabled = false,
    playbook_ids = [],
    actions = [],
  }: Pick<UpdateAgent, "enabled" | "playbook_ids" | "actions">,
): Promise<void> {
  if (enabled && !services.hasAgents) {
    throw new TidingsError(
      "not_configured",
      "An enabled agent needs a model. Set the engine option `agents`.",
    );
  }
  const found = await Promise.all(playbook_ids.map((id) => tx.get(playbookById, [id])));
  const errors: FieldError[] = [];
  for (const [i, playbook] of found.entries()) {
    if (playbook !== undefined) tx.touch(playbooks, playbook);
    else {
      errors.push({
        pointer: `/playbook_ids/${i}`,
        code: "unknown_playbook",
        message: "no playbook has this id",
      });
    }
  }
  for (const [i, name] of actions.entries()) {
    if (services.actions.has(name)) continue;
    errors.push(unknownAction(`/actions/${i}`, name, services.actions));
  }
  if (errors.length > 0) throw invalid(errors);
}

interface AgentFields {
  readonly definition: AgentDefinition;
  readonly enabled: boolean;
}

/**
 * Inserts an agent and its first version. Rows of agents are only written in this file, so that
 * every version is stored.
 * @throws TidingsError `conflict` when the account has reached the maximum
 */
export async function insertAgent(
  tx: Tx,
  { definition, enabled }: AgentFields,
): Promise<Seen<AgentRow>> {
  const agent = tx.insert(agents, {
    id: tx.drawId("agt"),
    ordinal: await freeOrdinal(tx, agentByOrdinal, maxAgents),
    enabled: enabled || null,
    revision: 1,
    ...searchColumns(definition),
    created_at: tx.now,
    updated_at: tx.now,
  });
  insertVersion(tx, agent, definition);
  return agent;
}

/** Updates an agent. A changed definition makes a new version; `enabled` is not part of it. */
async function writeAgent(
  tx: Tx,
  before: Seen<AgentRow>,
  was: AgentDefinition,
  { definition, enabled }: AgentFields,
): Promise<Seen<AgentRow>> {
  const isSame = canonicalJson(definition) === canonicalJson(was);
  if (isSame && enabled === (before.enabled === true)) return before;
  const revision = isSame ? before.revision : before.revision + 1;
  const patch = {
    ...searchColumns(definition),
    revision,
    enabled: enabled || null,
    updated_at: tx.now,
  };
  const after = tx.update(agents, before, patch);
  if (isSame) return after;
  await retireVersion(tx, before);
  insertVersion(tx, after, definition);
  return after;
}

function searchColumns({ name, channels, senders, playbook_ids }: AgentDefinition) {
  return { name, channels, senders, playbook_ids };
}

async function retireVersion(tx: Tx, { id, revision }: AgentRow): Promise<void> {
  const version = await tx.get(agentVersionOf, [id, revision]);
  if (version !== undefined) tx.update(agentVersions, version, { last_used_at: tx.now });
}

function insertVersion(
  tx: Tx,
  { id: agent_id, revision }: AgentRow,
  definition: AgentDefinition,
): void {
  tx.insert(agentVersions, {
    agent_id,
    revision,
    definition,
    created_at: tx.now,
    last_used_at: null,
  });
}
