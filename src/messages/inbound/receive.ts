import { createHmac, type KeyObject } from "node:crypto";
import {
  contactById,
  contactReference,
  createContactFor,
  identityByAddress,
  setLastSender,
} from "../../contacts/index.ts";
import { changeConversation, openForInbound, updateForMessage } from "../../conversations/index.ts";
import { appendEvent, receivedEventId } from "../../events/index.ts";
import { mediaTypeOf, mediumOf, TidingsError, toUri, type Scope } from "../../kernel/index.ts";
import { defineHook, runHook, type Hook, type Services } from "../../operations/index.ts";
import type { InboundMessage, Media, Seen } from "../../ports/index.ts";
import {
  liveSenderByAddress,
  sandboxSendersByAddress,
  senderByAddress,
  type SenderRow,
} from "../../senders/index.ts";
import type { Tx, UnscopedTx } from "../../store/index.ts";
import { countMessage } from "../count-message.ts";
import { messageReceived } from "../events.ts";
import {
  inboundByHash,
  inboundIds,
  initialColumns,
  messageById,
  messages,
  type MessageRow,
} from "../rows.ts";
import { addWords } from "../search/search-words.ts";
import { segmentColumns } from "../segments.ts";
import { answerKeyword, applyKeywords, flagOf, type KeywordEffect } from "./apply-keywords.ts";

/** A contact's message, right after it was stored. */
interface ReceivedMessage {
  readonly message: MessageRow;
  /** Whether the message reopened a closed conversation. */
  readonly isReopened: boolean;
}

/**
 * Runs after a contact's message was received. A consent or help keyword, which `message.keyword`
 * names, needs no other answer than the engine's own.
 */
export const onMessageReceived: Hook<ReceivedMessage> = defineHook("message received");

/**
 * Stores an inbound message for a sender. A repeated provider id returns the first message.
 * @throws TidingsError `erased` if the first message was erased; a carrier cannot restore it
 */
export async function receiveMessage(
  tx: Tx,
  services: Services,
  sender: SenderRow,
  inbound: InboundMessage,
): Promise<MessageRow> {
  const { secret } = services;
  const { channel } = inbound;
  const id_hash = inboundHash(secret, tx.scope, sender.transport, inbound.provider_message_id);
  const medium = mediumOf(channel);
  const address = [medium, inbound.from] as const;
  tx.prefetch(() => [{ index: identityByAddress, key: address }]);
  const before = await findReceived(tx, id_hash);
  if (before !== undefined) return before;

  const known = await tx.get(identityByAddress, address);
  const identity = known ?? (await createContactFor(tx, services, medium, inbound.from));
  tx.prefetch(() => [{ index: contactById, key: [identity.contact_id] }]);
  const { conversation: opened, isReopened } = await openForInbound(
    tx,
    identity,
    services.reopenMs,
  );
  const id = tx.drawId("msg");
  // Databases reject lone surrogates and NUL in text, so they are replaced.
  const body = inbound.body.toWellFormed().replaceAll("\0", "");
  const received = { ...inbound, body, message_id: id, sender, identity };
  const effect = await applyKeywords(tx, services, received);
  // A keyword may have changed the row.
  const changed = effect.keyword === null ? undefined : await tx.get(identityByAddress, address);
  setLastSender(tx, changed ?? identity, sender, { onlyIfNone: effect.keyword === "opt_out" });
  const conversation = await changeConversation(tx, opened, flagOf(effect));
  const message = tx.insert(messages, {
    ...receivedColumns(sender, inbound, body, effect),
    id,
    conversation_id: conversation.id,
    contact_id: identity.contact_id,
    author_id: identity.contact_id,
    ...(await updateForMessage(tx, conversation, {
      id,
      direction: "inbound",
      role: effect.keyword === null ? "asks" : "neither",
      isByReader: false,
    })),
    created_at: tx.now,
    updated_at: tx.now,
  });
  addWords(tx, message);
  tx.insert(inboundIds, { id_hash, message_id: id });
  countMessage(tx, message, null);
  await publishReceived(tx, message, body);
  await answerKeyword(tx, services, received, effect);
  await runHook(tx, services, onMessageReceived, { message, isReopened });
  return message;
}

/** Returns the message that was received with this hash before, if any. */
async function findReceived(tx: Tx, id_hash: string): Promise<MessageRow | undefined> {
  const seen = await tx.get(inboundByHash, [id_hash]);
  if (seen === undefined) return undefined;
  const message = await tx.get(messageById, [seen.message_id]);
  // A redaction under way must find the stored response.
  if (message !== undefined) return tx.touch(messages, message);
  throw new TidingsError("erased", "The message has been erased.");
}

/** Returns the columns that do not depend on the contact or the conversation. */
function receivedColumns(
  sender: SenderRow,
  { channel, from, media, provider_message_id }: InboundMessage,
  body: string,
  effect: KeywordEffect,
) {
  return {
    ...initialColumns,
    direction: "inbound",
    channel,
    status: "received",
    from,
    to: sender.address,
    body,
    media: media.map(storedFile),
    author_type: "contact",
    category: "transactional",
    ...segmentColumns(channel, body),
    send_at: null,
    expires_at: null,
    transport: sender.transport,
    provider_message_id,
    opt_out_suspected: effect.suspected,
    keyword: effect.keyword,
    metadata: {},
    idempotency_key: null,
  } as const satisfies Partial<MessageRow>;
}

/**
 * Returns the fields of a file that are stored. A `content_type` that is no media type is left out:
 * the contact's device may have set it.
 */
function storedFile({ url, content_type }: Media): Media {
  const type = mediaTypeOf(content_type ?? "");
  return { url: toUri(url), ...(type === undefined ? {} : { content_type: type }) };
}

async function publishReceived(tx: Tx, message: Seen<MessageRow>, body: string): Promise<void> {
  const { id, contact_id, conversation_id, channel, from, media } = message;
  const contact = await tx.get(contactById, [contact_id]);
  const data = {
    message_id: id,
    contact: contactReference(contact_id, contact, from),
    body,
    channel,
    conversation_id,
    media: [...media],
  };
  appendEvent(tx, messageReceived, data, message, receivedEventId(id));
}

/**
 * Receives a message from a carrier. The recipient address determines the account. `account_id`
 * names an account whose sandbox receives the message, for an address that several of them have.
 */
export async function receiveFromCarrier(
  tx: UnscopedTx,
  services: Services,
  transport: string,
  message: InboundMessage,
  account_id: string | undefined,
): Promise<"received" | "unknown"> {
  // A transport may pass null or "" if it does not know the account.
  const sender = account_id
    ? await tx.get(senderByAddress, [account_id, "sandbox", message.to])
    : await findSenderAt(tx, transport, message.to, services);
  if (sender === undefined || sender.transport !== transport) return "unknown";
  try {
    await receiveMessage(tx.in(sender), services, sender, message);
  } catch (error) {
    // Report success, so that the carrier does not deliver the erased message again.
    if (!(error instanceof TidingsError) || error.code !== "erased") throw error;
  }
  return "received";
}

/**
 * Returns the sender that has an address of a transport: the live one or, if the transport sends
 * for sandboxes only, the one in a sandbox. Undefined if several sandboxes have one. Sandboxes
 * never get the messages of a live transport, because any account may add any address there.
 */
async function findSenderAt(
  tx: UnscopedTx,
  transport: string,
  address: string,
  { factsByTransport }: Services,
): Promise<SenderRow | undefined> {
  const modes = factsByTransport.get(transport)?.modes;
  if (modes?.includes("live") === true) return tx.get(liveSenderByAddress, [transport, address]);
  const [only, another] = await tx.list(sandboxSendersByAddress, [transport, address], 2);
  return another === undefined ? only : undefined;
}

/**
 * Returns a keyed hash of an inbound message's provider id. The id may contain personal data such
 * as a phone number, and the hash outlives the message and its contact.
 */
function inboundHash(
  secret: KeyObject,
  { account_id, mode }: Scope,
  transport: string,
  provider_message_id: string,
): string {
  const subject = JSON.stringify(["inbound", account_id, mode, transport, provider_message_id]);
  return createHmac("sha256", secret).update(subject).digest("base64url");
}
