import { conversationById, type ConversationRow } from "../conversations/index.ts";
import { type Author, TidingsError } from "../kernel/index.ts";
import type { Call } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { acceptMessage, findCorrespondent } from "../messages/index.ts";
import { chooseSender } from "../senders/index.ts";

export interface SendResult {
  /** The conversation after the message. */
  readonly conversation: Seen<ConversationRow>;
  readonly isSaid: boolean;
  /** Why the message was refused. Null if it was not. */
  readonly error: { readonly error: string; readonly code: string } | null;
}

/**
 * Sends a message in a conversation for the engine or an agent. A null text sends nothing. A
 * refusal is returned, not thrown.
 */
export async function sendAs(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  author: Author,
  text: string | null,
  { services, hostVerdicts }: Pick<Call, "services" | "hostVerdicts">,
): Promise<SendResult> {
  if (text === null) return { conversation, isSaid: false, error: null };
  const { id, medium } = conversation;
  try {
    await tx.attempt(async (within) => {
      const identity = await findCorrespondent(within, conversation);
      const channel = medium === "webchat" ? "webchat" : "sms";
      const request = {
        channel,
        from: undefined,
        last: identity.last_sender_id,
        to: identity.address,
      } as const;
      const sender = await chooseSender(within, request, services.transports);
      const correspondence = {
        channel,
        identity,
        sender,
        conversation,
        isNewConversation: false,
        author,
      } as const;
      const call = { services, hostVerdicts, idempotency_key: null };
      await acceptMessage(within, call, { body: text }, correspondence);
    });
  } catch (error) {
    // An opt-out, a policy of the host application or a missing sender: a retry would not help.
    if (!(error instanceof TidingsError) || error.retryable) throw error;
    return { conversation, isSaid: false, error: { error: error.message, code: error.code } };
  }
  const after = await tx.get(conversationById, [id], { hold: true });
  return { conversation: after ?? conversation, isSaid: true, error: null };
}
