import { likeness, termsOf } from "../../../src/agents/words.ts";
import { readAnswer } from "../../../src/agents/playbooks/slots.ts";
import type { Json, ModelSlot } from "../../../src/ports/agent-model.ts";

const mostClauses = 20;
/** Read only to see whether there is a value: where the contact is isn't told. */
const somewhere = { phone: null, time_zone: null };

/**
 * What a text has for a slot that reading it as a whole did not show; null where that is nothing, or could be several things. Other than
 * a number, it is the contact's own words: `Friday would do` of "I can't on Monday, but Friday would do". Whoever knows where the contact is
 * reads the date in them.
 */
export function wordsFor(slot: ModelSlot, text: string, now: number): Json {
  if (slot.type === "number") return countedThing(slot, text);
  if (slot.type === "text" && slot.enum === undefined) return only(text.match(code));
  const { name, type, prompt, enum: options } = slot;
  const asked = {
    name,
    type,
    prompt,
    required: true,
    ...(options === undefined ? {} : { enum: [...options] }),
  };
  const read = clausesOf(text)
    .map((words) => ({ words, value: readAnswer(asked, words, { now, contact: somewhere }) }))
    .filter(({ value }) => value !== undefined);
  return new Set(read.map(({ value }) => value)).size === 1 ? (read[0]?.words ?? null) : null;
}

function clausesOf(text: string): string[] {
  return text
    .split(/[,;.!?\n–—]+(?:\s+|$)|\s+(?:but|instead of|rather than|aber|mais|pero)\s+/i)
    .map((clause) => clause.trim().replace(/^(?:but|and|or|so|aber|oder|mais|pero)\s+/i, ""))
    .filter((clause) => clause !== "")
    .slice(0, mostClauses);
}

/** Letters, then digits: of an order, a customer, a policy. A slot of plain text takes all that was said; one that asks has a pattern. */
const code = /(?<![\p{L}\d-])\p{L}{0,6}[-#]?\d[\p{L}\d-]{1,30}(?![\p{L}\d-])/gu;

/** The number that stands beside a word of the question: `2 adults and 3 children` to "How many children?". */
function countedThing({ name, prompt }: ModelSlot, text: string): number | null {
  const asked = termsOf(`${name.replaceAll(/[_-]/g, " ")} ${prompt}`);
  const near = [...text.matchAll(/(?<![\p{L}\d.,:/-])(\d{1,9})\s+(\p{L}+)/gu)]
    .filter(([, , word = ""]) =>
      termsOf(word).some((term) => asked.some((other) => likeness(term, other) > 0)),
    )
    .map(([, number]) => Number(number));
  return only(near);
}

function only<T>(values: readonly T[] | null): T | null {
  const [first, ...others] = new Set(values ?? []);
  return first === undefined || others.length > 0 ? null : first;
}
