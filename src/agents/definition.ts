import { playbookId } from "../kernel/index.ts";
import { withChanges } from "./changes.ts";
import { defaultAgent, type AgentDefinition, type CreateAgent, type UpdateAgent } from "./types.ts";

/** Returns the definition of a new agent, with defaults. */
export function agentDefinitionOf(given: CreateAgent): AgentDefinition {
  const { name, channels } = given;
  // A copy, since the caller gets the lists of the new agent and may change them.
  const defaults = structuredClone(defaultAgent);
  return changedDefinition({ ...defaults, name, channels: [...channels] }, given);
}

/** Applies a change. Absent fields keep their values, also within objects. Null removes a field. */
export function changedDefinition(before: AgentDefinition, change: UpdateAgent): AgentDefinition {
  const {
    enabled: _,
    persona,
    guidelines,
    reply,
    handoff,
    limits,
    senders,
    playbook_ids,
    ...others
  } = change;
  return {
    ...withChanges(before, others),
    senders: senders === undefined ? before.senders : senders && [...senders],
    playbook_ids: playbook_ids?.map(playbookId) ?? before.playbook_ids,
    persona: withChanges(before.persona, persona),
    guidelines:
      guidelines?.map(({ priority = 0, ...each }) => ({ ...each, priority })) ?? before.guidelines,
    reply: withChanges(before.reply, reply),
    handoff: withChanges(before.handoff, handoff),
    limits: withChanges(before.limits, limits),
  };
}
