import { agentSessions, agentVersions, agents } from "./rows.ts";
import { playbookVersions, playbooks } from "./playbooks/rows.ts";
import { runs } from "./runs/rows.ts";
import { agentRoutes } from "./routes.ts";
import { playbookRoutes } from "./playbook-routes.ts";
import { agentHookHandlers } from "./hooks.ts";
import type { Module } from "../operations/index.ts";

export const agentsModule: Module = {
  collections: [agents, agentVersions, agentSessions, playbooks, playbookVersions, runs],
  tags: [
    { name: "Agents", description: "Who answers by itself, when it lets go, and what it did." },
    { name: "Playbooks", description: "Scripts that agents follow, step by step." },
  ],
  routes: [...agentRoutes, ...playbookRoutes],
  hookHandlers: agentHookHandlers,
};
