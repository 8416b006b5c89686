import {
  conversationById,
  conversationSchema,
  onConversationReopened,
  type Assignee,
} from "../conversations/index.ts";
import { pageSchema } from "../kernel/index.ts";
import { onMessageReceived } from "../messages/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  inputWith,
  list,
  listById,
  method,
  onHook,
  queryById,
  queryByIdAndInput,
  type ApiRoute,
  type CommandOptions,
  type HookHandler,
  type Module,
} from "../operations/index.ts";
import { arm } from "../queue/index.ts";
import { onMessageScored } from "../sentiment/index.ts";
import { agentActionsSchema, listActions } from "./actions/show-actions.ts";
import {
  assignConversation,
  handBackConversation,
  handOffConversation,
} from "./handling/change-handler.ts";
import { letAgentAnswer, resumeAgent } from "./handling/let-agent-answer.ts";
import { turnJob } from "./job-orders.ts";
import { agentJobs } from "./jobs.ts";
import { getPlaybook, listPlaybooks } from "./playbooks/reads.ts";
import { playbooks, playbookVersions } from "./playbooks/rows.ts";
import { playbookPageSchema, playbookSchema } from "./playbooks/types.ts";
import { createPlaybook, removePlaybook, updatePlaybook } from "./playbooks/write-playbook.ts";
import { getAgent, listAgents } from "./reads.ts";
import { agents, agentSessions, agentTriggers, agentVersions } from "./rows.ts";
import { approveRun } from "./runs/approve-run.ts";
import type { ApproveRun } from "./runs/input-types.ts";
import { getRun, listAgentRuns, listConversationRuns, listRuns } from "./runs/reads.ts";
import { runs } from "./runs/rows.ts";
import { runSchema } from "./runs/types.ts";
import { triggerAgent } from "./trigger-agent.ts";
import { agentSchema } from "./types.ts";
import { createAgent, removeAgent, updateAgent } from "./write-agent.ts";

const tag = "Agents";
const read = { tag, scopes: ["agents:read"] } as const;
const write = { tag, scopes: ["agents:write"] } as const;
const trigger = { tag, scopes: ["agents:trigger"] } as const;

const runPageSchema = pageSchema(runSchema).meta({ id: "RunPage" });

const conversationRoute = {
  tag: "Conversations",
  scopes: ["conversations:write"],
  response: conversationSchema,
} as const;

const agentRoutes: readonly ApiRoute[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/agents",
    operation: createAgent,
    summary: "Create an agent",
    description:
      "The agent answers messages that arrive from now on. If several agents match a message, " +
      "the oldest one answers.",
    response: agentSchema,
    example: {
      name: "Ada",
      channels: ["sms", "webchat"],
      persona: { role: "assistant of a plant shop", tone: "friendly and brief" },
      knowledge: [{ title: "Opening hours", text: "We are open Monday to Friday from 9 to 18." }],
      handoff: { rules: [{ on: "customer_request" }] },
    },
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
    summary: "Update an agent",
    description:
      "A change creates a new version, except a change of `enabled`. The agent's current " +
      "conversations keep the version that they started with.",
    response: agentSchema,
    example: { instructions: "Answer in one or two sentences.", enabled: true },
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/agents/:id",
    operation: removeAgent,
    summary: "Delete an agent",
    description:
      "The agent sends nothing more. Its conversations go to people when their contacts write " +
      "again. Its runs can still be read.",
  },
  {
    ...trigger,
    method: "POST",
    path: "/v1/agents/:id/trigger",
    operation: triggerAgent,
    summary: "Trigger a playbook or an action",
    description:
      "Starts a run for a contact or in a conversation. A conversation without a handler is " +
      "assigned to the agent, which also answers the contact's unanswered messages. Returns the " +
      "run at once; it continues in the background. Fails with 429 when the agent's " +
      "`max_triggers_per_minute` is used up.",
    response: runSchema,
    example: {
      contact_id: "ct_01KJPWD6M04SCGJ6C24SRZVBHY",
      playbook_id: "pb_01KJPWD6M04SCGJ6C24SRZVBHZ",
      input: { day: "2026-02-02" },
    },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents/:id/runs",
    operation: listAgentRuns,
    summary: "List an agent's runs",
    description:
      "Newest first. With the status `awaiting_approval`, the run whose deadline is next comes " +
      "first.",
    response: runPageSchema,
  },
  {
    ...read,
    method: "GET",
    path: "/v1/agents/:id/runs/:run_id",
    operation: getRun,
    summary: "Get a run",
    description: "Returns the run with its steps, its result and the model usage.",
    response: runSchema,
  },
  {
    ...trigger,
    method: "POST",
    path: "/v1/agents/:id/runs/:run_id/approve",
    operation: approveRun,
    summary: "Approve or deny an action",
    description:
      "Decides about the action that a run waits for. With a `call_id`, the decision fails with " +
      "409 if the run no longer waits for that call. An action is denied after one day without a " +
      "decision. While people handle the conversation, and after the agent was disabled or " +
      "deleted, an approval fails with 409.",
    response: runSchema,
    example: {
      decision: "approve",
      call_id: "run_01KJPWD6M04SCGJ6C24SRZVBJ0.1",
      author_id: "user_17",
    },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/runs",
    operation: listRuns,
    summary: "List the runs of all agents",
    description:
      "Newest first, including the runs of deleted agents. With the status `awaiting_approval`, " +
      "the run whose deadline is next comes first.",
    response: runPageSchema,
  },
  {
    tag: "Conversations",
    scopes: ["agents:read"],
    method: "GET",
    path: "/v1/conversations/:id/runs",
    operation: listConversationRuns,
    summary: "List the runs in a conversation",
    description:
      "The runs of all agents, newest first. With the status `awaiting_approval`, the run whose " +
      "deadline is next comes first.",
    response: runPageSchema,
  },
  {
    ...conversationRoute,
    method: "POST",
    path: "/v1/conversations/:id/assign",
    operation: assignConversation,
    summary: "Assign a conversation",
    description:
      "Assigns the conversation to a person or an agent, who then handles it, or to nobody. " +
      "When it is assigned to nobody, a conversation of a person is handed off and goes to the " +
      "queue, and a conversation of an agent has no handler. A snoozed conversation opens when " +
      "it is assigned to an agent.",
    example: { assignee: { type: "human", id: "user_17" } },
  },
  {
    ...conversationRoute,
    method: "POST",
    path: "/v1/conversations/:id/handoff",
    operation: handOffConversation,
    summary: "Hand a conversation off to people",
    description:
      "Puts the conversation in the queue for the next free person, and opens it if it is " +
      "snoozed. A conversation that is already in the queue stays unchanged.",
    example: { reason: "Asked for a person.", summary: "Wants a refund for order 1042." },
  },
  {
    ...conversationRoute,
    method: "POST",
    path: "/v1/conversations/:id/handback",
    operation: handBackConversation,
    summary: "Hand a conversation back to its agent",
    description:
      "Returns the conversation to its agent, and opens it if it is snoozed, even if the agent " +
      "already has it. If it has no agent, it then has no handler and no assignee, and stays " +
      "snoozed if it is. A conversation without a handler stays unchanged.",
  },
];

const actionRoutes: readonly ApiRoute[] = [
  {
    ...read,
    method: "GET",
    path: "/v1/actions",
    operation: listActions,
    summary: "List the actions",
    description: "The functions of the application that agents and playbooks can call.",
    response: agentActionsSchema,
  },
];

const playbookTag = "Playbooks";
const readPlaybooks = { tag: playbookTag, scopes: ["agents:read"] } as const;
const writePlaybooks = { tag: playbookTag, scopes: ["agents:write"] } as const;

const playbookRoutes: readonly ApiRoute[] = [
  {
    ...writePlaybooks,
    method: "POST",
    path: "/v1/playbooks",
    operation: createPlaybook,
    summary: "Create a playbook",
    description: "If the playbook is created enabled, its steps are checked as a whole.",
    response: playbookSchema,
    example: {
      name: "Opening hours",
      enabled: true,
      trigger: { keywords: ["opening hours", "open"] },
      steps: [{ id: "answer", type: "send", text: "We are open Monday to Friday from 9 to 18." }],
    },
  },
  {
    ...readPlaybooks,
    method: "GET",
    path: "/v1/playbooks",
    operation: listPlaybooks,
    summary: "List playbooks",
    description: "Newest first.",
    response: playbookPageSchema,
  },
  {
    ...readPlaybooks,
    method: "GET",
    path: "/v1/playbooks/:id",
    operation: getPlaybook,
    summary: "Get a playbook",
    description: "In its current version, or in the given one.",
    response: playbookSchema,
  },
  {
    ...writePlaybooks,
    method: "PATCH",
    path: "/v1/playbooks/:id",
    operation: updatePlaybook,
    summary: "Update a playbook",
    description:
      "A change creates a new version, except a change of `enabled`. Conversations in which the " +
      "playbook is in progress keep the version that they started with.",
    response: playbookSchema,
    example: {
      trigger: { keywords: ["opening hours", "open", "closing time"] },
      enabled: true,
    },
  },
  {
    ...writePlaybooks,
    method: "DELETE",
    path: "/v1/playbooks/:id",
    operation: removePlaybook,
    summary: "Delete a playbook",
    description:
      "Fails with `conflict` while an agent uses the playbook or another enabled playbook calls " +
      "it. The error has the id of that agent or playbook.",
  },
];

const agentHandles = {
  agents: {
    create: command(createAgent),
    get: queryById(getAgent),
    list: list(listAgents),
    update: commandByIdAndInput(updateAgent),
    remove: commandById(removeAgent),
    trigger: commandByIdAndInput(triggerAgent),
    runs: listById(listAgentRuns),
    run: method(
      ({ read }) =>
        (id: string, run_id: string) =>
          read(getRun, { id, run_id }),
    ),
    actions: method(
      ({ read }) =>
        () =>
          read(listActions, {}),
    ),
    approve: method(
      ({ change }) =>
        (id: string, run_id: string, decision: ApproveRun, options?: CommandOptions) =>
          change(approveRun, inputWith({ id, run_id }, decision), options),
    ),
  },
  runs: { list: list(listRuns) },
  playbooks: {
    create: command(createPlaybook),
    get: queryByIdAndInput(getPlaybook),
    list: list(listPlaybooks),
    update: commandByIdAndInput(updatePlaybook),
    remove: commandById(removePlaybook),
  },
  conversations: {
    assign: method(
      ({ change }) =>
        (id: string, assignee: Assignee | null, options?: CommandOptions) =>
          change(assignConversation, { id, assignee }, options),
    ),
    handOff: commandByIdAndInput(handOffConversation),
    handBack: commandById(handBackConversation),
    runs: listById(listConversationRuns),
  },
};

const agentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, (tx, { message, isReopened }, { reopenMs }) =>
    letAgentAnswer(tx, message, { isReopened, reopenMs }),
  ),
  onHook(onConversationReopened, (tx, { conversation, closed_at }, { reopenMs }) =>
    resumeAgent(tx, conversation, { isLate: closed_at <= tx.now - reopenMs }),
  ),
  // A turn waits for the scores of the messages that it answers.
  onHook(onMessageScored, async (tx, { message }) => {
    const conversation = await tx.get(conversationById, [message.conversation_id]);
    if (conversation?.handler === "ai") await arm(tx, turnJob(conversation, tx.now));
  }),
];

export const agentsModule: Module<typeof agentJobs, typeof agentHandles> = {
  collections: [
    agents,
    agentVersions,
    agentTriggers,
    agentSessions,
    playbooks,
    playbookVersions,
    runs,
  ],
  jobs: agentJobs,
  tags: [
    {
      name: "Agents",
      description: "AI agents: what they answer, when they hand off to people, and their runs.",
    },
    { name: "Playbooks", description: "Scripts that agents follow step by step." },
  ],
  routes: [...agentRoutes, ...actionRoutes, ...playbookRoutes],
  handles: agentHandles,
  hookHandlers: agentHookHandlers,
};
