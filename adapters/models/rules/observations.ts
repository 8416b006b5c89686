import { firstCharacters, straightenApostrophes } from "../../../src/kernel/index.ts";
import type { ModelAnswer } from "../../../src/ports/index.ts";

type Observations = NonNullable<ModelAnswer["observations"]>;

/**
 * What people say about themselves that is worth remembering. Each pattern matches one sentence.
 */
const statements: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: "name", pattern: /\b(?:my name is|my name's|i am called) \p{L}/iu },
  {
    kind: "diet",
    pattern: /\b(?:i|we)(?:'m| am|'re| are) (?:allergic|intolerant|diabetic|coeliac|celiac)\b/i,
  },
  {
    kind: "diet",
    pattern: /\b(?:i|we)(?:'m| am|'re| are) (?:vegetarian|vegan)\b/i,
  },
  {
    kind: "preference",
    pattern: /\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:prefer|hate|love|dislike)\b/i,
  },
  {
    kind: "preference",
    pattern: /\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:don't like|do not like|can't stand)\b/i,
  },
  {
    kind: "availability",
    pattern: /\b(?:call|text|write|ring|reach|contact) me (?:only )?(?:after|before|between)\b/i,
  },
  {
    kind: "availability",
    pattern: /\b(?:call|text|write|ring|reach|contact) me (?:only )?(?:in the|on|at)\b/i,
  },
  {
    kind: "place",
    pattern: /\b(?:i|we) (?:live|moved|have moved|are moving|am moving) (?:in|to|near)\b/i,
  },
];

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
/** How many characters of a message are read. */
const maxRead = 4_000;
/** How many observations one turn can make. */
const maxObservations = 5;
/** How many characters one observation can have. */
const maxCharacters = 300;
/** The sentence is the contact's own, but it may mean something else. */
const confidence = 0.7;

/** Returns what a contact says about themselves, in their own sentences. Questions are left out. */
export function observationsIn(message: string): Observations {
  const text = straightenApostrophes(firstCharacters(message, maxRead));
  return Array.from(sentences.segment(text), ({ segment }) => segment.trim())
    .filter((sentence) => !sentence.endsWith("?"))
    .flatMap((sentence) => {
      const found = statements.find(({ pattern }) => pattern.test(sentence));
      if (found === undefined) return [];
      const content = firstCharacters(sentence, maxCharacters);
      return [{ content, kind: found.kind, confidence }];
    })
    .slice(0, maxObservations);
}
