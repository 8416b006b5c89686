import { agentById, type AgentRow, agentVersionOf } from "./rows.ts";
import type { AgentDefinition } from "./types.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** @throws TidingsError `not_found` */
export async function agentToChange(
  tx: Tx,
  id: string,
  options?: ReadOptions,
): Promise<Seen<AgentRow>> {
  const agent = await tx.get(agentById, [id], options);
  if (agent === undefined) throw notFound("agent");
  return agent;
}

/** What an agent is in its current version. */
export async function findDefinition(tx: Tx, { id, revision }: AgentRow): Promise<AgentDefinition> {
  const version = await tx.get(agentVersionOf, [id, revision]);
  if (version === undefined) throw new TypeError("an agent has no version");
  return version.definition;
}
