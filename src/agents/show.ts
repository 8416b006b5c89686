import { iso } from "../kernel/index.ts";
import type { AgentRow } from "./rows.ts";
import type { Agent, AgentDefinition } from "./types.ts";

/** Shows an agent with the definition of its current version. */
export function agentResource(
  { id, enabled, revision, created_at, updated_at }: AgentRow,
  { name, ...others }: AgentDefinition,
): Agent {
  return {
    id,
    name,
    enabled: enabled === true,
    ...others,
    version: revision,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  };
}
