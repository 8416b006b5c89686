import { conversationById } from "../conversations/index.ts";
import { onMessageReceived } from "../messages/index.ts";
import { type HookHandler, onHook } from "../operations/index.ts";
import { arm } from "../queue/index.ts";
import { onMessageScored } from "../sentiment/index.ts";
import { callAgent } from "./call-agent.ts";
import { turnJob } from "./runs/rules.ts";

export const agentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, (tx, { message, isReopened }, { drawId, reopenMs }) =>
    callAgent(tx, drawId, message, { isReopened, reopenMs }),
  ),
  // A turn waits for the scores of the messages that it answers.
  onHook(onMessageScored, async (tx, { message }) => {
    const conversation = await tx.get(conversationById, [message.conversation_id]);
    if (conversation?.handler === "ai") await arm(tx, turnJob(conversation, tx.now));
  }),
];
