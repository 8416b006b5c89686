export { agentDefinitionOf } from "./definition.ts";
export { insertAgent } from "./write-agent.ts";
export { insertPlaybook } from "./playbooks/write-playbook.ts";
export {
  agentRunApprovalDecided,
  type AgentRunApprovalDecidedData,
  agentRunAwaitingApproval,
  type AgentRunAwaitingApprovalData,
  agentRunCompleted,
  type AgentRunCompletedData,
  conversationHandoff,
  type ConversationHandoffData,
} from "./events.ts";
export {
  awaitingRuns,
  openRuns,
  runById,
  type RunRow,
  runs,
  runsOfConversation,
} from "./runs/rows.ts";
export { runResource } from "./runs/show.ts";
export type { AgentAction, AgentActions } from "./actions/show-actions.ts";
export type { AgentRuntime, AgentSettings } from "./agent-runtime.ts";
export { playbookDefinitionOf } from "./playbooks/definition.ts";
export type { SettingChanges } from "./changes.ts";
export { validateAnswer } from "./turns/execution/model-answer.ts";
export { readAnswer } from "./playbooks/play/slots.ts";
export { type Slot, slotTypes } from "./playbooks/slot-types.ts";
export type {
  AskStep,
  AskStepInput,
  BranchCase,
  BranchStep,
  CallPlaybookStep,
  CallPlaybookStepInput,
  HandoffStep,
  InstructStep,
  PlaybookStep,
  PlaybookStepInput,
  ResolveStep,
  RunActionStep,
  SendStep,
  SetStep,
} from "./playbooks/step-types.ts";
export type { GetPlaybook, CreatePlaybook, UpdatePlaybook } from "./playbooks/input-types.ts";
export type { Playbook, PlaybookTrigger, PlaybookTriggerInput } from "./playbooks/types.ts";
export { agentVersionReaper, playbookVersionReaper } from "./reap-versions.ts";
export { runReaper } from "./runs/reap-runs.ts";
export {
  agentById,
  agents,
  agentSessionOf,
  agentSessions,
  agentTriggers,
  agentVersions,
} from "./rows.ts";
export { playbooks, playbookVersions } from "./playbooks/rows.ts";
export { mayQuote, redactedRun } from "./runs/redaction-rules.ts";
export { redactSession } from "./handling/session.ts";
export { handOff } from "./handling/hand-off.ts";
export { unansweredSince } from "./handling/answered-messages.ts";
export type { ApproveRun, ListAgentRuns, ListRuns, TriggerAgent } from "./runs/input-types.ts";
export type { PlaybookStepOutcome, RunPlaybookStep, RunStep } from "./runs/step-types.ts";
export type { AwaitedCall, Run, RunStatus, RunTrigger, RunUsage } from "./runs/types.ts";
export type { AgentHandoff, AgentHandoffInput } from "./settings/handoff-types.ts";
export type {
  ConfidenceRule,
  FailedAttemptsRule,
  HandoffCause,
  HandoffRule,
  IntentRule,
  KeywordRule,
  MaxTurnsRule,
  PlainRule,
  RuleWithoutValue,
  SentimentRule,
} from "./settings/handoff-rule-types.ts";
export type {
  AgentGuideline,
  AgentGuidelineInput,
  AgentKnowledge,
  AgentPersona,
  AgentPersonaInput,
} from "./settings/persona-types.ts";
export type { AgentLimits, AgentLimitsInput } from "./settings/limits-types.ts";
export type { AgentReply, AgentReplyInput } from "./settings/reply-types.ts";
export type { Agent, CreateAgent, UpdateAgent } from "./types.ts";
