import { keywordOf, suspectsOptOut } from "../consents/index.ts";
import {
  consentFor,
  identityByAddress,
  type IdentityRow,
  type Keyword,
  setConsent,
  stateOf,
} from "../contacts/index.ts";
import { type ConversationRow, findConversation, isActive } from "../conversations/index.ts";
import type { SenderRow } from "../senders/index.ts";
import type { MessageId } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { InboundMessage } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { type Correspondence, writeMessage } from "./accept.ts";

/** What a contact's words mean for its consent. */
export interface Heeded {
  /** What they ask for: a keyword, or what comes near an opt-out where that is honoured. */
  readonly keyword: Keyword | null;
  readonly suspected: boolean;
  /** What they are answered; null: nothing. */
  readonly answer: string | null;
}

const unheard: Heeded = { keyword: null, suspected: false, answer: null };

/** Reads a message for consent keywords and does what they say. Those of text messages alone: elsewhere they are words like others. */
export async function heedWords(
  tx: Tx,
  services: Services,
  sender: SenderRow,
  identity: IdentityRow,
  {
    message_id,
    channel,
    body,
  }: { readonly message_id: MessageId } & Pick<InboundMessage, "channel" | "body">,
): Promise<Heeded> {
  if (channel === "webchat") return unheard;
  const { consent, secret, drawId } = services;
  const isOptedOut = consentFor(stateOf(identity), sender.address) === "opted_out";
  const said = keywordOf(body, isOptedOut);
  const suspected = said === null && suspectsOptOut(body);
  const keyword = suspected && consent.honourNearMatches ? "opt_out" : said;
  if (keyword === null) return { keyword, suspected, answer: null };
  // Who wants nothing more gets no help either: the confirmation was the last.
  if (keyword === "help") {
    return { keyword, suspected, answer: isOptedOut ? null : consent.helpText };
  }

  const { isNews } = await setConsent(tx, drawId, secret, {
    medium: "text",
    address: identity.address,
    status: keyword === "opt_out" ? "opted_out" : "opted_in",
    sender: consent.scope === "sender" ? sender.address : null,
    source: "keyword",
    message_id,
    detail: suspected ? "near match" : null,
  });
  if (!isNews || isConfirmedByCarrier(services, sender)) {
    return { keyword, suspected, answer: null };
  }
  return {
    keyword,
    suspected,
    answer: keyword === "opt_out" ? consent.optOutText : consent.optInText,
  };
}

/** What it means for the conversation: a suspicion stands until the contact makes itself clear, or a person settles it. */
export function flagOf({ keyword, suspected }: Heeded): Partial<ConversationRow> {
  if (keyword === "opt_out" || keyword === "opt_in") return { opt_out_suspected: null };
  return suspected ? { opt_out_suspected: true } : {};
}

function isConfirmedByCarrier({ transports }: Services, { transport }: SenderRow): boolean {
  return transports.some(
    ({ name, capabilities }) => name === transport && capabilities.confirms_opt_outs,
  );
}

/** Answers a keyword, in the conversation in which it was said. */
export async function answerKeyword(
  tx: Tx,
  services: Services,
  sender: SenderRow,
  identity: IdentityRow,
  { keyword, answer }: Heeded,
): Promise<void> {
  if (keyword === null || answer === null) return;
  // What was read before has been written meanwhile.
  const { medium, address } = identity;
  const [latest, conversation] = await Promise.all([
    tx.get(identityByAddress, [medium, address]),
    findConversation(tx, identity),
  ]);
  if (latest === undefined || !isActive(conversation)) {
    throw new TypeError("a keyword was said in no conversation");
  }
  const correspondence: Correspondence = {
    channel: sender.channels.includes("sms") ? "sms" : "mms",
    identity: latest,
    sender,
    conversation,
    isNew: false,
    author: { type: "system" },
  };
  await writeMessage(
    tx,
    { services, idempotency_key: null },
    { body: answer },
    correspondence,
    keyword,
  );
}
