import { agentJobs } from "./jobs.ts";
import { callAgent } from "./call-agent.ts";
import { playbooks, playbookVersions } from "./playbooks/rows.ts";
import { agentRoutes, playbookRoutes } from "./routes.ts";
import { agents, agentSessions, agentVersions } from "./rows.ts";
import { runs } from "./runs/rows.ts";
import { turnJob } from "./runs/rules.ts";
import { type AssignConversation, conversationById } from "../conversations/index.ts";
import { onMessageReceived } from "../messages/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  type HookHandler,
  method,
  type Module,
  onHook,
  query,
  queryById,
  queryByIdAndInput,
} from "../operations/index.ts";
import { arm } from "../queue/index.ts";
import { onMessageScored } from "../sentiment/index.ts";
import { approveRun } from "./approve-run.ts";
import { assignConversation, handBackConversation, handOffConversation } from "./change-handler.ts";
import { getPlaybook, listPlaybooks } from "./playbooks/reads.ts";
import { getAgent, listAgents } from "./reads.ts";
import { getRun, listRuns } from "./runs/reads.ts";
import { triggerAgent } from "./trigger.ts";
import type { ApproveRun } from "./runs/inputs.ts";
import { createAgent, removeAgent, updateAgent } from "./write-agent.ts";
import { createPlaybook, removePlaybook, updatePlaybook } from "./write-playbook.ts";

const agentHandles = {
  agents: {
    create: command(createAgent),
    get: queryById(getAgent),
    list: query(listAgents),
    update: commandByIdAndInput(updateAgent),
    remove: commandById(removeAgent),
    trigger: commandByIdAndInput(triggerAgent),
    runs: queryByIdAndInput(listRuns),
    run: method(
      ({ read }) =>
        (id: string, run_id: string) =>
          read(getRun, { id, run_id }),
    ),
    approve: method(
      ({ change }) =>
        (
          id: string,
          run_id: string,
          decision: Omit<ApproveRun, "id" | "run_id">,
          options?: CommandOptions,
        ) =>
          change(approveRun, { ...decision, id, run_id }, options),
    ),
  },
  playbooks: {
    create: command(createPlaybook),
    get: queryById(getPlaybook),
    list: query(listPlaybooks),
    update: commandByIdAndInput(updatePlaybook),
    remove: commandById(removePlaybook),
  },
  conversations: {
    assign: method(
      ({ change }) =>
        (id: string, assignee: AssignConversation["assignee"], options?: CommandOptions) =>
          change(assignConversation, { id, assignee }, options),
    ),
    handOff: commandByIdAndInput(handOffConversation),
    handBack: commandById(handBackConversation),
  },
};

const agentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, (tx, { message, isReopened }, { drawId, reopenMs }) =>
    callAgent(tx, drawId, message, { isReopened, reopenMs }),
  ),
  // A turn waits for the scores of the messages that it answers.
  onHook(onMessageScored, async (tx, { message }) => {
    const conversation = await tx.get(conversationById, [message.conversation_id]);
    if (conversation?.handler === "ai") await arm(tx, turnJob(conversation, tx.now));
  }),
];

export const agentsModule: Module<typeof agentJobs, typeof agentHandles> = {
  collections: [agents, agentVersions, agentSessions, playbooks, playbookVersions, runs],
  jobs: agentJobs,
  tags: [
    {
      name: "Agents",
      description: "AI agents: what they answer, when they hand off to people, and their runs.",
    },
    { name: "Playbooks", description: "Scripts that agents follow step by step." },
  ],
  routes: [...agentRoutes, ...playbookRoutes],
  handles: agentHandles,
  hookHandlers: agentHookHandlers,
};
