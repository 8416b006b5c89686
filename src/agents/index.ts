export { approveRun } from "./approve-run.ts";
export { assignConversation, handBackConversation, handOffConversation } from "./change-handler.ts";
export { createAgent, insertAgent, removeAgent, updateAgent } from "./write-agent.ts";
export {
  createPlaybook,
  insertPlaybook,
  removePlaybook,
  updatePlaybook,
} from "./write-playbook.ts";
export { agentsModule } from "./descriptor.ts";
export {
  agentRunCompleted,
  type AgentRunCompletedData,
  conversationHandoff,
  type ConversationHandoffData,
} from "./events.ts";
export { getRun, listRuns, runResource } from "./runs/reads.ts";
export type { AgentOptions, AgentRuntime, AgentSettings } from "./options.ts";
export { getPlaybook, listPlaybooks } from "./playbooks/reads.ts";
export { playbookDefinitionOf } from "./playbooks/rules.ts";
export { readAnswer } from "./playbooks/slots.ts";
export type {
  CreatePlaybook,
  Playbook,
  PlaybookStep,
  Slot,
  UpdatePlaybook,
} from "./playbooks/types.ts";
export { getAgent, listAgents } from "./reads.ts";
export { agents, agentSessionOf, agentSessions } from "./rows.ts";
export { agentDefinitionOf, maxAgents } from "./rules.ts";
export { type RunRow, runs, runsOfConversation } from "./runs/rows.ts";
export { mayQuote, redactedRun } from "./runs/rules.ts";
export type { Run, RunStatus, RunStep } from "./runs/types.ts";
export { triggerAgent } from "./trigger.ts";
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
