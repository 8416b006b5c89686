import { agentResource } from "../domain/agents/resource.ts";
import { definitionOf } from "../domain/agents/rules.ts";
import { type Agent, type CreateAgent, createAgentSchema } from "../domain/agents/types.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { equipAgent } from "./steps/equip-agent.ts";
import { insertAgent } from "./steps/write-agent.ts";

/** Has somebody answer what comes in from this commit on, unless it is made disabled. */
export const createAgent: Command<CreateAgent, Agent> = {
  kind: "command",
  name: "agents.create",
  input: createAgentSchema,
  status: 201,
  async run(tx, input, call) {
    const { enabled = true } = input;
    await equipAgent(tx, call, { ...input, enabled });
    const actor = actorOf(call.scope, call.services.drawId);
    const definition = definitionOf(input);
    return agentResource(await insertAgent(tx, actor, { definition, enabled }), definition);
  },
};
