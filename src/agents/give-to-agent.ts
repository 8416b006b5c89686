import type { DrawId } from "../kernel/index.ts";
import type { AgentRow } from "./rows.ts";
import { changeConversation, type ConversationRow } from "../conversations/index.ts";
import { arm } from "../queue/index.ts";
import { turnJob } from "./runs/rules.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { beginRun } from "./begin-run.ts";
import { cancelAnswers } from "./cancel-answers.ts";
import { openSession } from "./open-session.ts";
import { heardIn, unansweredIn } from "./unanswered.ts";

/** Has an agent go on with a conversation, and answer what the contact wrote since anybody wrote to it. */
export async function giveToAgent(
  tx: Tx,
  drawId: DrawId,
  before: Seen<ConversationRow>,
  agent: AgentRow,
): Promise<Seen<ConversationRow>> {
  const { agent_revision, heard } = await openSession(tx, before, agent, {
    heard: await lastAnswered(tx, before),
  });
  const patch = { handler: "ai", assignee_type: "agent", assignee_id: agent.id } as const;
  const conversation = await changeConversation(tx, drawId, before, patch);
  const messages = await unansweredIn(tx, conversation, { heard });
  const isNews = before.handler !== "ai" || before.assignee_id !== agent.id;
  if (isNews) await cancelAnswers(tx, drawId, conversation);
  if (messages.length === 0) return conversation;
  if (isNews) {
    beginRun(tx, drawId, {
      agent_id: agent.id,
      agent_revision,
      playbook_id: null,
      conversation_id: conversation.id,
      trigger: "handback",
      ...heardIn(messages),
    });
  }
  await arm(tx, turnJob(conversation, tx.now));
  return conversation;
}

/** The place of the last message before those of the contact's that the conversation ends with. */
async function lastAnswered(tx: Tx, conversation: ConversationRow): Promise<number> {
  const messages = await unansweredIn(tx, conversation, { heard: 0 });
  let place = conversation.message_count;
  for (const { sequence } of messages.toReversed()) {
    if (sequence !== place) break;
    place--;
  }
  return place;
}
