import { runHook, type Services } from "../operations/index.ts";
import { onMessageReceived } from "./hooks.ts";
import { messageReceived } from "./events.ts";
import { contactById, contactReference, findContact, identities } from "../contacts/index.ts";
import { appendEvent, receivedEventId } from "../events/index.ts";
import {
  inboundByHash,
  inboundIds,
  messageById,
  messages,
  type MessageRow,
  untouched,
} from "./rows.ts";
import { inboundHash } from "./inbound-id.ts";
import { mediumOf, TidingsError } from "../kernel/index.ts";
import { segmentsOf } from "./segments.ts";
import type { SenderRow } from "../senders/index.ts";
import type { InboundMessage } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { changeConversation, openForInbound, takePlace } from "../conversations/index.ts";
import { countMessage } from "./count.ts";
import { answerKeyword, flagOf, heedWords } from "./apply-keywords.ts";

/**
 * Makes a message of what came in for a sender. The same provider's id twice makes one message.
 * @throws TidingsError `erased` when it made one that is gone since: what was erased doesn't come back with its carrier
 */
export async function takeInMessage(
  tx: Tx,
  services: Services,
  sender: SenderRow,
  inbound: InboundMessage,
): Promise<MessageRow> {
  const { drawId } = services;
  const { transport } = sender;
  const { provider_message_id, channel } = inbound;
  const id_hash = inboundHash(services.secret, tx.scope, transport, provider_message_id);
  const seen = await tx.get(inboundByHash, [id_hash]);
  if (seen !== undefined) {
    const before = await tx.get(messageById, [seen.message_id]);
    if (before !== undefined) return before;
    throw new TidingsError("erased", "The message has been erased.");
  }

  const identity = await findContact(tx, drawId, services.secret, mediumOf(channel), inbound.from);
  if (identity.last_sender_id !== sender.id) {
    tx.update(identities, identity, { last_sender_id: sender.id });
  }
  const { conversation: opened, isReopened } = await openForInbound(
    tx,
    drawId,
    identity,
    services.reopenMs,
  );
  const { contact_id } = identity;
  const id = drawId("msg");
  // What no database keeps as text must not keep the rest of the message out.
  const body = inbound.body.toWellFormed().replaceAll("\0", "");
  const heeded = await heedWords(tx, services, sender, identity, {
    message_id: id,
    channel,
    body,
  });
  const conversation = await changeConversation(tx, drawId, opened, flagOf(heeded));
  const segments = channel === "sms" ? segmentsOf(body) : null;
  const message = tx.insert(messages, {
    ...untouched,
    id,
    conversation_id: conversation.id,
    contact_id,
    sequence: await takePlace(tx, conversation, id, "inbound"),
    direction: "inbound",
    channel,
    status: "received",
    from: inbound.from,
    to: sender.address,
    body,
    media: inbound.media,
    author_type: "contact",
    author_id: contact_id,
    category: "transactional",
    segments: segments?.count ?? null,
    encoding: segments?.encoding ?? null,
    send_at: null,
    expires_at: null,
    transport,
    provider_message_id,
    opt_out_suspected: heeded.suspected,
    keyword: heeded.keyword,
    metadata: {},
    idempotency_key: null,
    created_at: tx.now,
    updated_at: tx.now,
  });
  tx.insert(inboundIds, { id_hash, message_id: id });
  countMessage(tx, message);

  const contact = await tx.get(contactById, [contact_id]);
  const data = {
    message_id: id,
    contact: contactReference(contact_id, contact, inbound.from),
    body,
    channel,
    conversation_id: conversation.id,
    media: [...inbound.media],
  };
  appendEvent(tx, drawId, messageReceived, data, message, receivedEventId(id));
  await answerKeyword(tx, services, sender, identity, heeded);
  // Keywords are neither scored nor answered by an agent.
  if (message.keyword === null) {
    await runHook(tx, services, onMessageReceived, { message, isReopened });
  }
  return message;
}
