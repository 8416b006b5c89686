import { containsPhrase, normalizedWords } from "../../../kernel/index.ts";
import type { AgentDefinition } from "../../types.ts";
import type { TurnFacts } from "../turn-types.ts";

/** A text leaks the instructions if it repeats this many of their words in a row. */
const minLeakedWords = 12;

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
