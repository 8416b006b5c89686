import { agentJobs } from "./jobs.ts";
import { callAgent } from "./call-agent.ts";
import { playbooks, playbookVersions } from "./playbooks/rows.ts";
import { agentHandles } from "./handles.ts";
import { agentRoutes, playbookRoutes } from "./routes.ts";
import { agents, agentSessions, agentVersions } from "./rows.ts";
import { runs } from "./runs/rows.ts";
import { turnJob } from "./runs/rules.ts";
import { conversationById } from "../conversations/index.ts";
import { onMessageReceived } from "../messages/index.ts";
import { type HookHandler, type Module, onHook } from "../operations/index.ts";
import { arm } from "../queue/index.ts";
import { onMessageScored } from "../sentiment/index.ts";

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
