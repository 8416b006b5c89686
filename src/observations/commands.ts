import { contactToChange, contactToRead } from "../contacts/index.ts";
import { conversationById } from "../conversations/index.ts";
import {
  invalid,
  millis,
  notFound,
  withId,
  wrongKind,
  type ById,
  type ContactId,
  type ConversationId,
  type FieldError,
  type MessageId,
} from "../kernel/index.ts";
import { messageById } from "../messages/index.ts";
import {
  eraseStoredResponses,
  showsNothing,
  showsOutput,
  type Command,
} from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { observationById, observations } from "./rows.ts";
import { observationResource } from "./show.ts";
import {
  addObservationSchema,
  removeObservationSchema,
  type AddObservation,
  type Observation,
  type RemoveObservation,
} from "./types.ts";

/** Adds an observation about a contact. */
export const addObservation: Command<AddObservation & ById, Observation> = {
  kind: "command",
  name: "contacts.addObservation",
  input: () => withId(addObservationSchema, "The id of the contact."),
  status: 201,
  shows: showsOutput,
  async run(tx, { id, content, kind, source = "api", confidence = null, ...options }) {
    // The hold prevents a concurrent merge or erasure, which would leave the new row without a
    // contact.
    const contact = await contactToChange(tx, id, { hold: true });
    const { conversation_id, evidence } = await checkEvidence(tx, contact.id, options);
    const expires_at = options.expires_at === undefined ? null : millis(options.expires_at);
    if (expires_at !== null && expires_at <= tx.now) {
      throw invalid([{ pointer: "/expires_at", code: "past", message: "must be in the future" }]);
    }
    const row = tx.insert(observations, {
      contact_id: contact.id,
      id: tx.drawId("obs"),
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

interface Evidence {
  readonly conversation_id: ConversationId | null;
  readonly evidence: readonly MessageId[];
}

/**
 * @throws TidingsError `validation_failed` if the conversation or a message is not the contact's
 */
async function checkEvidence(
  tx: Tx,
  contact_id: ContactId,
  {
    conversation_id,
    evidence_message_ids = [],
  }: Pick<AddObservation, "conversation_id" | "evidence_message_ids">,
): Promise<Evidence> {
  const [conversation, ...messages] = await Promise.all([
    conversation_id === undefined ? undefined : tx.get(conversationById, [conversation_id]),
    ...evidence_message_ids.map((id) => tx.get(messageById, [id])),
  ]);
  const errors: FieldError[] = [];
  if (conversation_id !== undefined && conversation?.contact_id !== contact_id) {
    errors.push({
      pointer: "/conversation_id",
      code: "unknown_conversation",
      message:
        wrongKind("conversation", conversation_id) ?? "The contact has no such conversation.",
    });
  }
  for (const [i, id] of evidence_message_ids.entries()) {
    if (messages[i]?.contact_id === contact_id) continue;
    const pointer = `/evidence_message_ids/${i}`;
    const message = wrongKind("message", id) ?? "The contact has no such message.";
    errors.push({ pointer, code: "unknown_message", message });
  }
  if (errors.length > 0) throw invalid(errors);
  const evidence = messages.flatMap((message) => (message === undefined ? [] : [message.id]));
  return { conversation_id: conversation?.id ?? null, evidence };
}

/** Deletes an observation, also from the stored response of the request that added it. */
export const removeObservation: Command<RemoveObservation, void> = {
  kind: "command",
  name: "contacts.removeObservation",
  input: () => removeObservationSchema,
  status: 204,
  shows: showsNothing,
  async run(tx, { id, observation_id }) {
    const contact = await contactToRead(tx, id);
    const row = await tx.get(observationById, [contact.id, observation_id]);
    if (row === undefined) throw notFound("observation", observation_id);
    await eraseStoredResponses(tx, row.id);
    tx.remove(observations, row);
  },
};
