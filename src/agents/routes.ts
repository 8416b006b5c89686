import { assignConversation } from "./assign.ts";
import { handBackConversation } from "./hand-back.ts";
import { handOffConversation } from "./hand-off-command.ts";
import { conversationSchema } from "../conversations/index.ts";
import { approveRun } from "./approve-run.ts";
import { createAgent } from "./create-agent.ts";
import { getRun } from "./get-run.ts";
import { listRuns } from "./list-runs.ts";
import { removeAgent } from "./remove-agent.ts";
import { triggerAgent } from "./trigger.ts";
import { updateAgent } from "./update-agent.ts";
import { getAgent, listAgents } from "./reads.ts";
import { agentSchema } from "./types.ts";
import { runSchema } from "./runs/types.ts";
import { pageSchema } from "../kernel/index.ts";
import type { Route } from "../operations/index.ts";

const tag = "Agents";
const read = { tag, scopes: ["agents:read"] } as const;
const write = { tag, scopes: ["agents:write"] } as const;
const trigger = { tag, scopes: ["agents:trigger"] } as const;

export const agentRoutes: readonly Route[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/agents",
    operation: createAgent,
    summary: "Create an agent",
    description:
      "It answers what comes in from now on. Of several that would answer the oldest does.",
    response: agentSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents",
    operation: listAgents,
    summary: "List agents",
    description: "Newest first.",
    response: pageSchema(agentSchema).meta({ id: "AgentPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents/:id",
    operation: getAgent,
    summary: "Get an agent",
    response: agentSchema,
  },
  {
    ...write,
    method: "PATCH",
    path: "/v1/agents/:id",
    operation: updateAgent,
    summary: "Edit an agent",
    description:
      "Makes a new version. Conversations that it has go on with the one that they began with.",
    response: agentSchema,
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/agents/:id",
    operation: removeAgent,
    summary: "Delete an agent",
    description:
      "It says nothing more. The conversations that it has go to people when their contacts write again.",
  },
  {
    ...trigger,
    method: "POST",
    path: "/v1/agents/:id/trigger",
    operation: triggerAgent,
    summary: "Have an agent run a playbook or an action",
    description:
      "For a contact or in a conversation. A conversation that nobody handles is the agent's then. Answers at once with the run, which goes on.",
    response: runSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents/:id/runs",
    operation: listRuns,
    summary: "List an agent's runs",
    description: "Newest first.",
    response: pageSchema(runSchema).meta({ id: "RunPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents/:id/runs/:run_id",
    operation: getRun,
    summary: "Get a run",
    description: "Its steps, its result, and what models took for it.",
    response: runSchema,
  },
  {
    ...trigger,
    method: "POST",
    path: "/v1/agents/:id/runs/:run_id/approve",
    operation: approveRun,
    summary: "Approve or deny an action",
    description:
      "That a run waits for. After a day it is denied. Nothing is approved while people have the conversation (409).",
    response: runSchema,
  },
  {
    tag: "Conversations",
    scopes: ["conversations:write"],
    response: conversationSchema,
    method: "POST",
    path: "/v1/conversations/:id/assign",
    operation: assignConversation,
    summary: "Assign a conversation",
    description:
      "To a person, who handles it then; to an agent, which does; or to nobody: what people had waits in the queue, and what an agent had is nobody's.",
  },
  {
    tag: "Conversations",
    scopes: ["conversations:write"],
    response: conversationSchema,
    method: "POST",
    path: "/v1/conversations/:id/handoff",
    operation: handOffConversation,
    summary: "Hand a conversation off to people",
    description:
      "It waits in the queue for the first person free. One that waits there already stays as it is.",
  },
  {
    tag: "Conversations",
    scopes: ["conversations:write"],
    response: conversationSchema,
    method: "POST",
    path: "/v1/conversations/:id/handback",
    operation: handBackConversation,
    summary: "Hand a conversation back to its agent",
    description: "One that has no agent is nobody's then.",
  },
];
