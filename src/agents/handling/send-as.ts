import type { PolicyContext } from "../../consents/index.ts";
import { conversationById, type ConversationRow } from "../../conversations/index.ts";
import { TidingsError, type Author, type MessageId } from "../../kernel/index.ts";
import { sendInConversation, type MessageRow } from "../../messages/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Tx } from "../../store/index.ts";

export interface SendResult {
  /** The conversation after the message. */
  readonly conversation: Seen<ConversationRow>;
  /** The message. Null if there was no text, or if it was refused. */
  readonly message_id: MessageId | null;
  /** Why the message was refused. Null if it was not. */
  readonly error: { readonly error: string; readonly code: string } | null;
}

interface Reply {
  readonly author: Author;
  /** Null sends nothing. */
  readonly text: string | null;
  /** As for `sendInConversation`. */
  readonly answers: MessageRow | undefined;
}

/**
 * Sends a message in a conversation for the engine or an agent. A refusal is returned, not thrown.
 */
export async function sendAs(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  { author, text, answers }: Reply,
  context: PolicyContext,
): Promise<SendResult> {
  if (text === null) return { conversation, message_id: null, error: null };
  let message_id: MessageId;
  try {
    const call = { ...context, idempotency_key: null };
    ({ id: message_id } = await tx.attempt((within) =>
      sendInConversation(within, call, { body: text, answers }, conversation, author),
    ));
  } catch (error) {
    // An opt-out, a policy of the host application or a missing sender: a retry would not help.
    if (!(error instanceof TidingsError) || error.retryable) throw error;
    return { conversation, message_id: null, error: { error: error.message, code: error.code } };
  }
  const after = await tx.get(conversationById, [conversation.id], { hold: true });
  return { conversation: after ?? conversation, message_id, error: null };
}
