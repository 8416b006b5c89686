import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { conversationSchema } from "./types.ts";

export const conversationCreated = defineEvent(
  "conversation.created",
  z.strictObject({ conversation: conversationSchema }),
);

export const conversationUpdated = defineEvent(
  "conversation.updated",
  z.strictObject({ conversation: conversationSchema }),
);

export const conversationClosed = defineEvent(
  "conversation.closed",
  z.strictObject({ conversation: conversationSchema }),
);
