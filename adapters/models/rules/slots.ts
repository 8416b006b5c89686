import { readAnswer } from "../../../src/agents/index.ts";
import type { Json, ModelSlot } from "../../../src/ports/index.ts";
import { isDenied } from "../../language/english/set-phrases.ts";
import { similarity, termsOf } from "../../language/english/terms.ts";
import { english } from "../../language/index.ts";

const maxClauses = 20;
/**
 * Models do not know a contact's number or time zone. Here it only matters whether a clause has a
 * value.
 */
const unknownContact = { phone: null, time_zone: null };
const language = english();

/**
 * Finds the value of a slot in a text that is not a value as a whole. Returns null if no part of
 * the text has a value, or if parts have different ones. For a number, returns the number. For
 * everything else, returns the contact's words: `Friday would do` of "I can't on Monday, but Friday
 * would do". The engine, which knows where the contact is, reads the date in them.
 * @param writtenAt when the contact wrote the text, in milliseconds since the epoch
 */
export function slotValue(slot: ModelSlot, text: string, writtenAt: number): Json {
  if (slot.type === "number") return countedThing(slot, text);
  if (slot.type === "text" && slot.enum === undefined) return only(text.match(code));
  const valueOf = (words: string) =>
    readAnswer(slot, words, { language, now: writtenAt, contact: unknownContact });
  const clauses = clausesOf(text);
  const read = clauses
    .map(withoutConjunction)
    .map((words) => ({ words, value: valueOf(words) }))
    .filter(({ value }) => value !== undefined);
  const values = new Set(read.map(({ value }) => value));
  if (slot.type === "date") {
    // One clause may say which of several days another one means: "Friday, the 11th". So all but
    // those that exclude something must together name the day.
    values.add(valueOf(clauses.filter((clause) => !isDenied(clause)).join(", ")));
  }
  return values.size === 1 ? (read[0]?.words ?? null) : null;
}

function clausesOf(text: string): string[] {
  return text
    .split(/[,;.!?\n–—]+(?:\s+|$)|\s+(?:but|instead of|rather than|aber|mais|pero)\s+/i)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "")
    .slice(0, maxClauses);
}

function withoutConjunction(clause: string): string {
  return clause.replace(/^(?:but|and|or|so|aber|oder|mais|pero)\s+/i, "");
}

/**
 * The number of an order, a customer or a policy: letters, then digits. A slot that takes any text
 * is filled without a model, so a text slot that gets here has a pattern.
 */
const code = /(?<![\p{L}\d-])\p{L}{0,6}[-#]?\d[\p{L}\d-]{1,30}(?![\p{L}\d-])/gu;

/**
 * Returns the number next to a word of the question: 3 of `2 adults and 3 children` for "How many
 * children?"
 */
function countedThing({ name, prompt }: ModelSlot, text: string): number | null {
  const asked = termsOf(`${name.replaceAll(/[_-]/g, " ")} ${prompt}`);
  const near = [...text.matchAll(/(?<![\p{L}\d.,:/-])(\d{1,9})\s+(\p{L}+)/gu)]
    .filter(([, , word = ""]) =>
      termsOf(word).some((term) => asked.some((other) => similarity(term, other) > 0)),
    )
    .map(([, number]) => Number(number));
  return only(near);
}

function only<T>(values: readonly T[] | null): T | null {
  const [first, ...others] = new Set(values ?? []);
  return first === undefined || others.length > 0 ? null : first;
}
