import { segmentsOf, sendInConversation } from "../messages/index.ts";
import type { AgentDefinition } from "./types.ts";
import {
  type Author,
  type Channel,
  containsPhrase,
  type MessageId,
  normalizedWords,
  storable,
  TidingsError,
} from "../kernel/index.ts";
import type { TurnFacts } from "./turns/turn-types.ts";
import type { PolicyContext } from "../consents/index.ts";
import { conversationById, type ConversationRow } from "../conversations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** SMS segments of a reply. Each one costs money, and handsets join long messages slowly. */
const maxSegments = 6;
/** Longer texts are first cut to this many code points. */
const maxRead = 10_000;
/** A text leaks the instructions if it repeats this many of their words in a row. */
const minLeakedWords = 12;

/**
 * Builds one message from the texts of a turn: joins them, shortens them at a sentence if needed,
 * and adds the signature. `last` follows the texts and is shortened only if it does not fit by
 * itself: it is what the contact must read, such as a question. Returns null if there is no text. A
 * signature longer than half the limit is left out.
 */
export function replyOf(
  { reply }: AgentDefinition,
  channel: Channel,
  texts: readonly string[],
  last = "",
): string | null {
  const start = texts.map(cleaned).filter(isNotEmpty).join("\n\n");
  const end = cleaned(last);
  if (start === "" && end === "") return null;
  const signatureLine = reply.signature === undefined ? "" : `\n${reply.signature}`;
  const signature = 2 * [...signatureLine].length > reply.max_chars ? "" : signatureLine;
  const fits = (text: string): boolean =>
    [...text, ...signature].length <= reply.max_chars &&
    (channel === "webchat" || segmentsOf(text + signature).count <= maxSegments);
  const withEnd = (text: string): string => [text, end].filter(isNotEmpty).join("\n\n");
  const hasRoom = start !== "" && fits(withEnd("…"));
  const text = hasRoom
    ? withEnd(shorten(start, (kept) => fits(withEnd(kept))))
    : shorten(end, fits);
  return text + signature;
}

/** Slot values come from outside and may not be storable. */
const cleaned = (text: string): string => storable(text, maxRead).trim();
const isNotEmpty = (text: string): boolean => text !== "";

/**
 * Returns what may be sent for a model's text: undefined if it leaks the instructions or
 * guidelines. In `canned_strict` it is the host application's text with the same words, or
 * undefined.
 */
export function sendableText(agent: AgentDefinition, text: string): string | undefined {
  if (leaks(agent, text)) return undefined;
  return agent.reply.mode === "generated" ? text : cannedText(agent, text);
}

/**
 * Whether a model may put these words into a slot. Playbooks send slot values, so the words must
 * not leak the instructions or guidelines. In `canned_strict` the contact must have written them.
 */
export function mayFillSlot(
  { agent, history, contactText }: Pick<TurnFacts, "agent" | "history" | "contactText">,
  words: string,
): boolean {
  if (leaks(agent, words)) return false;
  const contactTexts = [
    ...history.messages.flatMap(({ from, text }) => (from === "contact" ? text : [])),
    contactText,
  ];
  return (
    agent.reply.mode === "generated" ||
    contactTexts.some((text) => containsPhrase(normalizedWords(text), normalizedWords(words)))
  );
}

/**
 * Returns the host application's text that a model means: the same text, or else the first with the
 * same words. Punctuation and signs can change what the words say, so the model's are not sent.
 */
function cannedText(
  { knowledge, fallback_text, handoff }: AgentDefinition,
  text: string,
): string | undefined {
  const cannedTexts = [...knowledge.map((piece) => piece.text), fallback_text];
  if (handoff.message !== undefined) cannedTexts.push(handoff.message);
  const words = normalizedWords(text);
  const isSame = (each: string): boolean => words !== "" && normalizedWords(each) === words;
  return cannedTexts.find((each) => each === text) ?? cannedTexts.find(isSame);
}

function leaks({ instructions, guidelines }: AgentDefinition, text: string): boolean {
  const words = ` ${normalizedWords(text)} `;
  return [instructions, ...guidelines.map(({ then }) => then)].some((secret) => {
    const secretWords = normalizedWords(secret).split(" ");
    const count = Math.max(0, secretWords.length - minLeakedWords + 1);
    const passages = Array.from({ length: count }, (_, i) =>
      secretWords.slice(i, i + minLeakedWords).join(" "),
    );
    return passages.some((passage) => words.includes(` ${passage} `));
  });
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Keeps as many whole sentences as fit. If the first one does not fit, it is cut. */
function shorten(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  const whole = longest(
    Array.from(sentences.segment(text), ({ segment }) => segment),
    (kept) => fits(kept.trimEnd()),
  ).trimEnd();
  if (whole !== "") return whole;
  const cut = longest(
    Array.from(graphemes.segment(text), ({ segment }) => segment),
    (kept) => fits(`${kept}…`),
  );
  return `${cut.trimEnd()}…`;
}

/**
 * Returns the longest prefix that fits, by binary search. If a prefix fits, so do all shorter ones.
 */
function longest(parts: readonly string[], fits: (text: string) => boolean): string {
  let [min, max] = [0, parts.length];
  while (min < max) {
    const middle = Math.ceil((min + max) / 2);
    if (fits(parts.slice(0, middle).join(""))) min = middle;
    else max = middle - 1;
  }
  return parts.slice(0, min).join("");
}

export interface SendResult {
  /** The conversation after the message. */
  readonly conversation: Seen<ConversationRow>;
  /** The message. Null if there was no text, or if it was refused. */
  readonly message_id: MessageId | null;
  /** Why the message was refused. Null if it was not. */
  readonly error: { readonly error: string; readonly code: string } | null;
}

/**
 * Sends a message in a conversation for the engine or an agent. A null text sends nothing. `to` is
 * as for `sendInConversation`. A refusal is returned, not thrown.
 */
export async function sendAs(
  tx: Tx,
  conversation: Seen<ConversationRow>,
  author: Author,
  { text, to }: { readonly text: string | null; readonly to?: string | undefined },
  context: PolicyContext,
): Promise<SendResult> {
  if (text === null) return { conversation, message_id: null, error: null };
  let message_id: MessageId;
  try {
    const call = { ...context, idempotency_key: null };
    ({ id: message_id } = await tx.attempt((within) =>
      sendInConversation(within, call, { body: text, to }, conversation, author),
    ));
  } catch (error) {
    // An opt-out, a policy of the host application or a missing sender: a retry would not help.
    if (!(error instanceof TidingsError) || error.retryable) throw error;
    return { conversation, message_id: null, error: { error: error.message, code: error.code } };
  }
  const after = await tx.get(conversationById, [conversation.id], { hold: true });
  return { conversation: after ?? conversation, message_id, error: null };
}
