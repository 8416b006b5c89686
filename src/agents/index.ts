export { insertAgent } from "./write-agent.ts";
export { insertPlaybook } from "./write-playbook.ts";
export { agentsModule } from "./descriptor.ts";
export { agentRunCompleted, conversationHandoff } from "./events.ts";
export { runResource } from "./runs/reads.ts";
export type { AgentOptions, AgentRuntime, AgentSettings } from "./options.ts";
export { playbookDefinitionOf } from "./playbooks/rules.ts";
export { readAnswer } from "./playbooks/slots.ts";
export type {
  CreatePlaybook,
  Playbook,
  PlaybookStep,
  Slot,
  UpdatePlaybook,
} from "./playbooks/types.ts";
export { agents, agentSessionOf, agentSessions } from "./rows.ts";
export { agentDefinitionOf, maxAgents } from "./rules.ts";
export { type RunRow, runs, runsOfConversation } from "./runs/rows.ts";
export { mayQuote, redactedRun } from "./runs/rules.ts";
export type { Run, RunStatus, RunStep } from "./runs/types.ts";
export type {
  Agent,
  ApproveRun,
  CreateAgent,
  HandoffCause,
  HandoffRule,
  ListRuns,
  TriggerAgent,
  UpdateAgent,
} from "./types.ts";
