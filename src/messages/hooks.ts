import { defineHook, type Hook } from "../operations/index.ts";
import type { MessageRow } from "./rows.ts";

/** A contact's message, right after it was stored. */
export interface ReceivedMessage {
  readonly message: MessageRow;
  /** The message reopened a closed conversation. */
  readonly isReopened: boolean;
}

/** Runs when a contact's message has been received, and is no opt-out, opt-in or help keyword. */
export const onMessageReceived: Hook<ReceivedMessage> = defineHook("message received");
