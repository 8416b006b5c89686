export { approveRun } from "./approve-run.ts";
export { assignConversation } from "./assign.ts";
export { createAgent } from "./create-agent.ts";
export { createPlaybook } from "./create-playbook.ts";
export { agentsModule } from "./descriptor.ts";
export { agentRunCompleted, conversationHandoff } from "./events.ts";
export { getRun } from "./get-run.ts";
export { handBackConversation } from "./hand-back.ts";
export { handOffConversation } from "./hand-off-command.ts";
export { agentJobs } from "./jobs.ts";
export { listRuns } from "./list-runs.ts";
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
export { removeAgent } from "./remove-agent.ts";
export { removePlaybook } from "./remove-playbook.ts";
export { agents, agentSessionOf, agentSessions } from "./rows.ts";
export { agentDefinitionOf, mostAgents } from "./rules.ts";
export { runResource } from "./runs/resource.ts";
export { type RunRow, runs, runsOfConversation } from "./runs/rows.ts";
export { mayQuote, wordless } from "./runs/rules.ts";
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
export { updateAgent } from "./update-agent.ts";
export { updatePlaybook } from "./update-playbook.ts";
export { insertAgent } from "./write-agent.ts";
export { insertPlaybook } from "./write-playbook.ts";
