import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { contactReferenceSchema, sentimentSchema } from "../contacts/index.ts";
import { ids } from "../kernel/index.ts";
import { runSchema } from "./runs/types.ts";

export const conversationHandoff = defineEvent(
  "conversation.handoff",
  z
    .strictObject({
      conversation_id: ids.conversation,
      contact: contactReferenceSchema,
      agent_id: ids.agent.nullable(),
      reason: z.string(),
      rule: z.string().nullable(),
      summary: z.string(),
      last_message_ids: z.array(ids.message),
      sentiment: sentimentSchema.nullable(),
    })
    .describe("An agent or the host application handed a conversation off to people."),
);

export const agentRunCompleted = defineEvent(
  "agent.run.completed",
  z.strictObject({ run: runSchema }),
);
