import { agentResource } from "./resource.ts";
import { changedDefinition } from "./rules.ts";
import { type Agent, type UpdateAgent, updateAgentSchema } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { agentToChange, findDefinition } from "./find-agent.ts";
import { equipAgent } from "./validate-agent.ts";
import { updateAgent as writeAgent } from "./write-agent.ts";

/** Makes a new version of an agent. Conversations that it has go on with the one that they began with. */
export const updateAgent: Command<UpdateAgent, Agent> = {
  kind: "command",
  name: "agents.update",
  input: updateAgentSchema,
  status: 200,
  async run(tx, { id, ...change }, call) {
    const before = await agentToChange(tx, id);
    await equipAgent(tx, call, change);
    const { enabled = before.enabled === true } = change;
    const was = await findDefinition(tx, before);
    const definition = changedDefinition(was, change);
    return agentResource(writeAgent(tx, before, was, { definition, enabled }), definition);
  },
};
