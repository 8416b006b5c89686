import type { ModelAnswer } from "../../../src/ports/agent-model.ts";

type Observations = NonNullable<ModelAnswer["observations"]>;

/** What people say of themselves that is worth knowing next time. Each is looked for in a sentence of its own. */
const telling: readonly { readonly kind: string; readonly says: RegExp }[] = [
  { kind: "name", says: /\b(?:my name is|my name's|i am called) \p{L}/iu },
  {
    kind: "diet",
    says: /\b(?:i|we)(?:'m| am|'re| are) (?:allergic|intolerant|vegetarian|vegan|diabetic|coeliac|celiac)\b/i,
  },
  {
    kind: "preference",
    says: /\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:prefer|hate|love|dislike|don't like|do not like|can't stand)\b/i,
  },
  {
    kind: "availability",
    says: /\b(?:call|text|write|ring|reach|contact) me (?:only )?(?:after|before|between|in the|on|at)\b/i,
  },
  {
    kind: "place",
    says: /\b(?:i|we) (?:live|moved|have moved|are moving|am moving) (?:in|to|near)\b/i,
  },
];

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
/** Of one turn, and of one of them in characters. */
const most = 5;
const longest = 300;
/** It is the contact's own sentence; what it means may be another thing. */
const confidence = 0.7;

/** What a contact says of itself, in its own sentences. A question says nothing. */
export function noticedIn(said: string): Observations {
  const noticed = Array.from(
    sentences.segment(said.replaceAll("’", "'").slice(0, 4_000)),
    ({ segment }) => segment.trim(),
  );
  return noticed
    .filter((sentence) => !sentence.endsWith("?"))
    .flatMap((sentence) => {
      const found = telling.find(({ says }) => says.test(sentence));
      return found === undefined
        ? []
        : [{ content: sentence.slice(0, longest), kind: found.kind, confidence }];
    })
    .slice(0, most);
}
