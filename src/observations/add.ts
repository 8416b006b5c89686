import { conversationById } from "../conversations/index.ts";
import { messageById } from "../messages/index.ts";
import { observationResource } from "./resource.ts";
import { observations } from "./rows.ts";
import { type AddObservation, addObservationSchema, type Observation } from "./types.ts";
import {
  type ContactId,
  type ConversationId,
  type FieldError,
  invalid,
  type MessageId,
  millis,
} from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { contactToChange } from "../contacts/index.ts";

/** Writes down what was noticed about a contact. */
export const addObservation: Command<AddObservation, Observation> = {
  kind: "command",
  name: "contacts.observe",
  input: () => addObservationSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { id, content, kind, source = "api", confidence = null, ...asked }, { services }) {
    // Held: what is written for a contact that is merged or erased at this moment would be nobody's.
    const contact = await contactToChange(tx, id, { hold: true });
    const { conversation_id, evidence } = await groundsOf(tx, contact.id, asked);
    const expires_at = asked.expires_at === undefined ? null : millis(asked.expires_at);
    if (expires_at !== null && expires_at <= tx.now) {
      throw invalid([{ pointer: "/expires_at", code: "past", message: "must be in the future" }]);
    }
    const row = tx.insert(observations, {
      contact_id: contact.id,
      id: services.drawId("obs"),
      conversation_id,
      content,
      kind,
      source,
      evidence_message_ids: evidence,
      confidence,
      created_at: tx.now,
      expires_at,
    });
    return observationResource(row);
  },
};

interface Grounds {
  readonly conversation_id: ConversationId | null;
  readonly evidence: readonly MessageId[];
}

/** @throws TidingsError `validation_failed` where they are not the contact's own */
async function groundsOf(
  tx: Tx,
  contact_id: ContactId,
  {
    conversation_id,
    evidence_message_ids = [],
  }: Pick<AddObservation, "conversation_id" | "evidence_message_ids">,
): Promise<Grounds> {
  const [conversation, ...messages] = await Promise.all([
    conversation_id === undefined ? undefined : tx.get(conversationById, [conversation_id]),
    ...evidence_message_ids.map((id) => tx.get(messageById, [id])),
  ]);
  const errors: FieldError[] = [];
  if (conversation_id !== undefined && conversation?.contact_id !== contact_id) {
    errors.push({
      pointer: "/conversation_id",
      code: "unknown_conversation",
      message: "no such conversation of it",
    });
  }
  for (const [i, message] of messages.entries()) {
    if (message?.contact_id === contact_id) continue;
    const pointer = `/evidence_message_ids/${i}`;
    errors.push({ pointer, code: "unknown_message", message: "no such message of the contact" });
  }
  if (errors.length > 0) throw invalid(errors);
  const evidence = messages.flatMap((message) => (message === undefined ? [] : [message.id]));
  return { conversation_id: conversation?.id ?? null, evidence };
}
