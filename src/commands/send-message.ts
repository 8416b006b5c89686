import { contactById, identitiesOfContact, type IdentityRow, identities } from "../domain/contacts/rows.ts";
import type { Medium } from "../fields.ts";
import { arm } from "../domain/jobs/rows.ts";
import { messageResource } from "../domain/messages/resource.ts";
import { type MessageRow, messages } from "../domain/messages/rows.ts";
import { channelOf, mediumOf, plan } from "../domain/messages/rules.ts";
import { segmentsOf } from "../domain/messages/segments.ts";
import { patchOf } from "../domain/messages/state.ts";
import { type Message, type SendMessage, sendMessageSchema } from "../domain/messages/types.ts";
import { millis } from "../domain/time.ts";
import { invalid } from "../errors.ts";
import type { Command } from "../operation.ts";
import type { Seen } from "../ports/collection.ts";
import type { Tx } from "../transactions/transaction.ts";
import type { Actor } from "./steps/append-event.ts";
import { chooseSender } from "./steps/choose-sender.ts";
import { countMessage } from "./steps/count-message.ts";
import { findContact } from "./steps/find-contact.ts";
import { openConversation, takePlace } from "./steps/open-conversation.ts";
import { releaseJob, sendJob } from "./steps/send-jobs.ts";

/** Accepts a message: it is queued, or scheduled, and will be handed over by whichever engine gets to it. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  async run(tx, input, call) {
    const actor: Actor = { scope: call.scope, drawId: call.services.drawId };
    const send_at = input.send_at === undefined ? null : millis(input.send_at);
    const ttl = input.ttl_seconds === undefined ? {} : { ttl: input.ttl_seconds * 1_000 };
    const planned = plan({ send_at, ...ttl }, tx.now);
    if (planned.decision === "invalid") throw invalid([planned.error]);
    const { state } = planned;

    const channel = channelOf(input);
    const identity = await recipient(tx, actor, mediumOf(channel), input.to);
    const { transports } = call.services;
    const sender = await chooseSender(tx, call.scope, { channel, from: input.from, last: identity.last_sender_id }, transports);
    if (identity.last_sender_id !== sender.id) tx.update(identities, identity, { last_sender_id: sender.id });

    const conversation = await openConversation(tx, actor, identity);
    const id = actor.drawId("msg");
    const segments = channel === "sms" ? segmentsOf(input.body) : null;
    const draft: MessageRow = {
      ...call.scope,
      id,
      conversation_id: conversation.id,
      contact_id: identity.contact_id,
      sequence: takePlace(tx, conversation, id, "outbound"),
      direction: "outbound",
      channel,
      status: state.status,
      from: sender.address,
      to: identity.address,
      body: input.body,
      media: input.media ?? [],
      author_type: "api",
      author_id: call.caller.type === "key" ? call.caller.key_id : null,
      category: input.category ?? "transactional",
      segments: segments?.count ?? null,
      encoding: segments?.encoding ?? null,
      // A time that has passed means now; one that is to come is part of the state.
      send_at: null,
      expires_at: state.expires_at,
      error: null,
      transport: sender.transport,
      provider_message_id: null,
      metadata: input.metadata ?? {},
      idempotency_key: call.idempotency_key,
      attempts: 0,
      retry_at: null,
      carriage: null,
      created_at: tx.now,
      updated_at: tx.now,
      sent_at: null,
      delivered_at: null,
      read_at: null,
    };
    const message = tx.insert(messages, { ...draft, ...patchOf(state) });
    countMessage(tx, message);
    await arm(tx, state.status === "queued" ? sendJob(message, tx.now) : releaseJob(message, state.send_at));
    return messageResource(message);
  },
};

/** Whose address a message goes to: a phone number's, or a contact's on the medium. */
async function recipient(tx: Tx, actor: Actor, medium: Medium, to: string): Promise<Seen<IdentityRow>> {
  if (to.startsWith("+")) return findContact(tx, actor, medium, to);
  const { account_id, mode } = actor.scope;
  let contact = await tx.get(contactById, [account_id, mode, to]);
  if (contact?.merged_into != null) contact = await tx.get(contactById, [account_id, mode, contact.merged_into]);
  if (contact === undefined) throw invalid([{ pointer: "/to", code: "unknown_contact", message: "No such contact." }]);
  const [identity] = await tx.list(identitiesOfContact, [contact.id, medium], 1);
  if (identity === undefined) {
    throw invalid([{ pointer: "/to", code: "no_address", message: `The contact has no ${medium} address.` }]);
  }
  return identity;
}
