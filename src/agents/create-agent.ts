import { agentResource } from "./resource.ts";
import { agentDefinitionOf } from "./rules.ts";
import { type Agent, type CreateAgent, createAgentSchema } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { equipAgent } from "./validate-agent.ts";
import { insertAgent } from "./write-agent.ts";

/** Has somebody answer what comes in from this commit on, unless it is made disabled. */
export const createAgent: Command<CreateAgent, Agent> = {
  kind: "command",
  name: "agents.create",
  input: createAgentSchema,
  status: 201,
  async run(tx, input, call) {
    const { enabled = true } = input;
    await equipAgent(tx, call, { ...input, enabled });
    const { drawId } = call.services;
    const definition = agentDefinitionOf(input);
    return agentResource(await insertAgent(tx, drawId, { definition, enabled }), definition);
  },
};
