import type { ModelTurn } from "../../../src/ports/index.ts";
import { plainText, similarity, termsOf, type Term } from "../../language/english/terms.ts";

interface Guess {
  /** The name of an intent, or the id of a playbook. */
  readonly key: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** The share of an intent's words that a message must have. */
const minConfidence = 0.6;
/** The share of a sentence that a description must have. Descriptions also name side issues. */
const minShareOfSentence = 0.8;
/** The weight of words that many messages have, and that say little of what their writer wants. */
const generalWeight = 0.4;
const general = meaningsOf(
  "appointment order book account service product customer request information inquiry support " +
    "general day week",
  "monday tuesday wednesday thursday friday saturday sunday weekend",
);

/** `no complaints`, `I don't want to cancel`: what the writer does not mean. */
const denials = [
  "no|without|not an?|not (?:going|trying|looking) to",
  "(?:dont|do not) (?:want|need|have|wish)(?: to| any| an?)?",
];
const denied = new RegExp(String.raw`\b(?:${denials.join("|")})\s+\p{L}+`, "gu");

/**
 * Returns the intent of whose words the text has the largest share; null if no share is large
 * enough.
 */
export function likeliestIntent(text: string, intents: readonly string[]): Guess | null {
  const said = termsOf(affirmed(text));
  return likeliest(
    intents.map((name) => ({ key: name, confidence: share(wordsOfName(name), said) })),
  );
}

/**
 * Returns the playbook that fits the text best: by its intents and its name, and by how much of a
 * sentence its description covers.
 */
export function likeliestPlaybook(text: string, playbooks: ModelTurn["playbooks"]): Guess | null {
  const said = termsOf(affirmed(text));
  // A single word, such as `umbrella`, does not tell what the writer wants.
  const sentences = affirmed(text)
    .split(/[.!?;,\n]+/)
    .map((sentence) => termsOf(sentence))
    .filter((terms) => terms.filter((term) => !isGeneral(term)).length > 1);
  return likeliest(
    playbooks.map(({ id, name, description, intents, when }) => {
      const known = termsOf(`${description} ${when ?? ""} ${name}`);
      const byName = [...intents, name].map((each) => share(wordsOfName(each), said));
      const byDescription = sentences
        .map((sentence) => share(sentence, known))
        .filter((each) => each >= minShareOfSentence);
      return { key: id, confidence: Math.max(...byName, ...byDescription) };
    }),
  );
}

function likeliest(guesses: readonly Guess[]): Guess | null {
  const [best] = guesses.toSorted((one, other) => other.confidence - one.confidence);
  return best !== undefined && best.confidence >= minConfidence ? best : null;
}

/**
 * Returns the share of the words that `others` has, from 0 to 1. It is 0 if they share general
 * words only.
 */
function share(words: readonly Term[], others: readonly Term[]): number {
  const found = words.map((word) => ({
    weight: isGeneral(word) ? generalWeight : 1,
    like: Math.max(0, ...others.map((other) => similarity(word, other))),
    telling: !isGeneral(word),
  }));
  if (!found.some(({ telling, like }) => telling && like > 0)) return 0;
  const total = found.reduce((sum, { weight }) => sum + weight, 0);
  return found.reduce((sum, { weight, like }) => sum + weight * like, 0) / total;
}

/** The words of a name such as `opening_hours` or `rescheduleAppointment`, each meaning once. */
function wordsOfName(name: string): Term[] {
  const spaced = name.replaceAll(/[_./:-]+/g, " ").replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return [...new Map(termsOf(spaced).map((term) => [term.meaning, term])).values()];
}

function affirmed(text: string): string {
  return text
    .split("\n")
    .map((line) => plainText(line).replaceAll(denied, " "))
    .join("\n");
}

function isGeneral({ meaning }: Term): boolean {
  return general.has(meaning);
}

function meaningsOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(termsOf(lines.join(" ")).map(({ meaning }) => meaning));
}
