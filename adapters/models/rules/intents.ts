import { likeness, plainText, termsOf, type Term } from "../../../src/agents/words.ts";
import type { ModelTurn } from "../../../src/ports/agent-model.ts";

export interface Guess {
  readonly name: string;
  /** From 0 to 1. */
  readonly sureness: number;
}

/** So much of an intent's words must be there. */
const leastSureness = 0.6;
/** So much of a sentence must be in a description, which names much beside what it is about. */
const leastOfSentence = 0.8;
/** What everybody writes about says little of what they want. */
const generalWeight = 0.4;
const general = meaningsOf(
  "appointment order book account service product customer request information inquiry support general day week",
  "monday tuesday wednesday thursday friday saturday sunday weekend",
);

/** `no complaints`, `I don't want to cancel`: what is said not to be meant. */
const denied =
  /\b(?:no|without|not an?|not (?:going|trying|looking) to|(?:dont|do not) (?:want|need|have|wish)(?: to| any| an?)?)\s+\p{L}+/gu;

/** The one of the intents whose words are in the text most fully; of several alike the first; null when none is there. */
export function likeliestIntent(text: string, intents: readonly string[]): Guess | null {
  const said = termsOf(affirmed(text));
  return likeliest(intents.map((name) => ({ name, sureness: share(wordsOfName(name), said) })));
}

/** As for intents, by the playbooks' intents and names, and by how much of a sentence their descriptions have. The name is the id. */
export function likeliestPlaybook(text: string, playbooks: ModelTurn["playbooks"]): Guess | null {
  const said = termsOf(affirmed(text));
  // A word alone, such as `umbrella`, may be asked about for many reasons.
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
        .filter((each) => each >= leastOfSentence);
      return { name: id, sureness: Math.max(...byName, ...byDescription) };
    }),
  );
}

function likeliest(guesses: readonly Guess[]): Guess | null {
  const [best] = guesses.toSorted((one, other) => other.sureness - one.sureness);
  return best !== undefined && best.sureness >= leastSureness ? best : null;
}

/** How much of the words others have too, from 0 to 1. Nothing when only general words meet. */
function share(words: readonly Term[], others: readonly Term[]): number {
  const found = words.map((word) => ({
    weight: isGeneral(word) ? generalWeight : 1,
    like: Math.max(0, ...others.map((other) => likeness(word, other))),
    telling: !isGeneral(word),
  }));
  if (!found.some(({ telling, like }) => telling && like > 0)) return 0;
  const total = found.reduce((sum, { weight }) => sum + weight, 0);
  return found.reduce((sum, { weight, like }) => sum + weight * like, 0) / total;
}

/** `opening_hours`, `rescheduleAppointment`, `Where is my order?`: each meaning once. */
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
