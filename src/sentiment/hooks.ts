import { type MessageRow, onMessageReceived } from "../messages/index.ts";
import { defineHook, type Hook, type HookHandler, onHook } from "../operations/index.ts";
import { scoreLater } from "./score-later.ts";

/** Runs when a message has its score, or is known to get none. */
export const onMessageScored: Hook<{ readonly message: MessageRow }> = defineHook("message scored");

export const sentimentHookHandlers: readonly HookHandler[] = [
  onHook(onMessageReceived, async (tx, { message }, { scoresSentiment }) => {
    if (scoresSentiment) await scoreLater(tx, message);
  }),
];
