import { ownAccount } from "../../accounts/index.ts";
import { keywordOf, suspectsOptOut } from "../../consents/index.ts";
import {
  consentFor,
  consentOf,
  identityByAddress,
  setConsent,
  type IdentityRow,
  type Keyword,
} from "../../contacts/index.ts";
import { findConversation, isActive, type ConversationRow } from "../../conversations/index.ts";
import type { MessageId } from "../../kernel/index.ts";
import type { ConsentSettings, Services } from "../../operations/index.ts";
import type { InboundMessage } from "../../ports/index.ts";
import type { SenderRow } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { writeMessage, type Correspondence } from "../sending/accept-message.ts";

/** The effect of an inbound message on the contact's consent. */
export interface KeywordEffect {
  /** The keyword, or `opt_out` for a near match if near matches opt out. */
  readonly keyword: Keyword | null;
  /** Whether the text is no keyword but may ask for an opt-out. */
  readonly suspected: boolean;
  /** The text of the automatic answer. Null if there is none. */
  readonly answer: string | null;
}

const noEffect: KeywordEffect = { keyword: null, suspected: false, answer: null };

interface Inbound extends Pick<InboundMessage, "channel" | "body" | "keyword"> {
  readonly message_id: MessageId;
  /** The sender that received the message. */
  readonly sender: SenderRow;
  /** The address that the message is from. */
  readonly identity: IdentityRow;
}

/** Detects a consent keyword in an inbound message and sets the consent. Ignores webchat. */
export async function applyKeywords(
  tx: Tx,
  services: Services,
  inbound: Inbound,
): Promise<KeywordEffect> {
  const { channel, message_id, sender, identity } = inbound;
  if (channel === "webchat") return noEffect;
  const { consent, secret } = services;
  const { medium, address } = identity;
  // START and HELP depend on the consent, so it must not change before the commit.
  if (keywordIn(inbound, true) !== null) {
    await tx.get(identityByAddress, [medium, address], { hold: true });
  }
  const isOptedOut = consentFor(consentOf(identity), sender.address) === "opted_out";
  const exact = keywordIn(inbound, isOptedOut);
  const suspected = exact === null && suspectsOptOut(inbound.body);
  const keyword = suspected && consent.honorNearMatches ? "opt_out" : exact;
  if (keyword === null) return { keyword, suspected, answer: null };
  // An opted-out contact gets no help text: the opt-out confirmation was the last message.
  if (keyword === "help") {
    const answer = isOptedOut ? null : await answerOf(tx, consent, keyword);
    return { keyword, suspected, answer };
  }

  const { isChanged } = await setConsent(tx, secret, {
    medium,
    address,
    status: keyword === "opt_out" ? "opted_out" : "opted_in",
    sender: consent.scope === "sender" ? sender.address : null,
    source: "keyword",
    message_id,
    detail: suspected ? "near match" : null,
  });
  if (!isChanged || isConfirmedByCarrier(services, sender)) {
    return { keyword, suspected, answer: null };
  }
  return { keyword, suspected, answer: await answerOf(tx, consent, keyword) };
}

/** Returns the text of the automatic answer: the account's own, or else the engine's. */
async function answerOf(
  tx: Tx,
  { optOutText, optInText, helpText }: ConsentSettings,
  keyword: Keyword,
): Promise<string | null> {
  const account = await ownAccount(tx);
  switch (keyword) {
    case "opt_out":
      return account?.opt_out_text ?? optOutText;
    case "opt_in":
      return account?.opt_in_text ?? optInText;
    case "help":
      return account?.help_text ?? helpText;
  }
}

/**
 * Returns the keyword of a message, by its text or else by its carrier, which may know other words.
 * An opt-out of the carrier always counts: it has blocked the contact's number already.
 */
function keywordIn({ body, keyword }: Inbound, isOptedOut: boolean): Keyword | null {
  if (keyword === "opt_out") return keyword;
  const ofCarrier = keyword === "opt_in" && !isOptedOut ? null : (keyword ?? null);
  return keywordOf(body, isOptedOut) ?? ofCarrier;
}

/**
 * Returns the change of the conversation's opt-out flag. A suspected opt-out stays flagged until
 * the contact sends a keyword or a person clears the flag.
 */
export function flagOf({ keyword, suspected }: KeywordEffect): Partial<ConversationRow> {
  if (keyword === "opt_out" || keyword === "opt_in") return { opt_out_suspected: null };
  return suspected ? { opt_out_suspected: true } : {};
}

/** Whether the carrier itself confirms opt-outs and opt-ins to the contact. */
function isConfirmedByCarrier({ factsByTransport }: Services, { transport }: SenderRow): boolean {
  return factsByTransport.get(transport)?.confirms_opt_outs === true;
}

/** Sends the automatic answer to a keyword, in the same conversation. */
export async function answerKeyword(
  tx: Tx,
  services: Services,
  { sender, identity }: Pick<Inbound, "sender" | "identity">,
  { keyword, answer }: KeywordEffect,
): Promise<void> {
  if (keyword === null || answer === null) return;
  // Both rows changed earlier in this transaction, so they are read again.
  const { medium, address } = identity;
  const [latest, conversation] = await Promise.all([
    tx.get(identityByAddress, [medium, address]),
    findConversation(tx, identity),
  ]);
  if (latest === undefined || !isActive(conversation)) {
    throw new TypeError("cannot answer a keyword: the contact has no active conversation");
  }
  const correspondence: Correspondence = {
    channel: sender.channels.includes("sms") ? "sms" : "mms",
    identity: latest,
    sender,
    conversation,
    author: { type: "system" },
  };
  await writeMessage(tx, { services, idempotency_key: null }, { body: answer }, correspondence, {
    keyword,
  });
}
