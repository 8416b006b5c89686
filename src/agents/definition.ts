import { playbookId } from "../kernel/index.ts";
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

type Change<T> = {
  readonly [K in keyof T]?: Given<T[K]> | (undefined extends T[K] ? null : never) | undefined;
};
/** The lists of an input are read-only. */
type Given<Value> = Value extends (infer Item)[] ? readonly Item[] : Value;

/** Null is only accepted for optional fields, so the result is complete. */
function withChanges<T extends object>(before: T, change: Change<T> = {}): T {
  const said = Object.entries(change).filter(([, value]) => value !== undefined);
  const after = Object.entries({ ...before, ...Object.fromEntries(said) });
  return Object.fromEntries(after.filter(([, value]) => value !== null)) as T;
}
