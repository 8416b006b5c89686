/** Reads the values of slots. What depends on a language is read by the engine's `Language`. */
import * as z from "zod";
import { phonePattern } from "../../../kernel/index.ts";
import type { Json, Language } from "../../../ports/index.ts";
import type { Slot } from "../slot-types.ts";
import { fitsPattern } from "./pattern.ts";

/** When, by whom and in which language an answer was written. */
export interface AnswerContext {
  readonly language: Language;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly contact: {
    /** A number of the North American plan decides how other numbers and dates are read. */
    readonly phone: string | null;
    /** An IANA name. Null, and a name that the runtime does not know, mean UTC. */
    readonly time_zone: string | null;
  };
}

/** How the answer to a slot is read. */
type SlotForm = Pick<Slot, "type" | "pattern" | "enum">;

/** Dates are `2026-12-01`, phone numbers E.164. */
export type SlotValue = string | number | boolean;

/**
 * Characters of an answer that are read. A longer answer is only read for a slot that takes any
 * text.
 */
const maxRead = 1_000;

/**
 * Reads the value of a slot from an answer. Returns undefined if the answer has none, or could mean
 * two things: then the contact is asked again. The displayed form of a value is read as the same
 * value, unless it could mean two things, such as `1.125`.
 */
export function readAnswer(
  slot: SlotForm,
  answer: string,
  { language, now, contact }: AnswerContext,
): SlotValue | undefined {
  const text = answer.trim();
  if (takesAnyText(slot)) return readText(text);
  if (text === "" || text.length > maxRead) return undefined;
  const isNorthAmerican = contact.phone?.startsWith("+1") === true;
  switch (slot.type) {
    case "text":
      if (slot.enum !== undefined) return language.readChoice(text, slot.enum);
      return fitsPattern(slot.pattern ?? "", text) ? text : undefined;
    case "number":
      return language.readNumber(text);
    case "boolean":
      return language.readBoolean(text);
    case "date":
      return language.readDate(text, {
        now,
        timeZone: contact.time_zone,
        isMonthFirst: isNorthAmerican,
      });
    case "phone":
      return readPhone(text, isNorthAmerican);
    case "email":
      return readEmail(text);
  }
}

/**
 * Returns the value of a slot for a value that a model, an action, another playbook or the host
 * application gave; undefined if the slot cannot hold it.
 */
export function validValue(slot: Slot, given: Json, context: AnswerContext): SlotValue | undefined {
  if (typeof given === "string") return readAnswer(slot, given, context);
  if (typeof given === "number") {
    if (slot.type === "number") return given;
    return slot.type === "text" ? readAnswer(slot, String(given), context) : undefined;
  }
  return typeof given === "boolean" && slot.type === "boolean" ? given : undefined;
}

/**
 * Returns the values of a model that slots may hold. `mayFillSlot` decides about free text. An
 * option, a number or a day cannot carry words of the model.
 */
export function allowedValues(
  slots: readonly Slot[],
  given: { readonly [name: string]: Json },
  mayFillSlot: (words: string) => boolean,
): { readonly [name: string]: Json } {
  const free = new Set(slots.filter(isFree).map(({ name }) => name));
  const kept = Object.entries(given).filter(
    ([name, value]) => !free.has(name) || typeof value !== "string" || mayFillSlot(value),
  );
  return Object.fromEntries(kept);
}

function isFree({ type, enum: options }: Slot): boolean {
  return options === undefined && (type === "text" || type === "email" || type === "phone");
}

export function takesAnyText(slot: SlotForm): boolean {
  return slot.type === "text" && slot.pattern === undefined && slot.enum === undefined;
}

function readText(text: string): string | undefined {
  // The cut may leave one half of a surrogate pair, which cannot be stored.
  const cut = text
    .slice(0, maxRead)
    .replace(/\p{Surrogate}/gu, "")
    .trim();
  return cut === "" ? undefined : cut;
}

/** A number that continues with more digits is not cut: it is not read. */
const phoneLike =
  /(?<![\p{L}\p{N}])(?:\+|00)?[\d(][\d\s().\-/]{5,24}\d(?!\p{L}|[\s().\-/]*\p{N})/gu;
/** A number of the North American plan has exactly ten digits after the country code. */
const otherLengthInPlan = /^\+1(?!\d{10}$)/;

/**
 * In these countries, a 0 after the country code is only dialed from within the country. In some
 * others, such as Italy, it is a part of the number.
 */
const trunkZero = /^(\+(?:27|31|32|33|353|41|43|44|46|49|61|64|90))0/;

/**
 * Reads the one phone number in a text. It begins with `+` or `00` and the country code; a contact
 * in the North American plan may leave these out.
 */
function readPhone(text: string, isNorthAmerican: boolean): string | undefined {
  const [found, ...others] = text.match(phoneLike) ?? [];
  if (found === undefined || others.length > 0) return undefined;
  const number = withCountryCode(found, isNorthAmerican)?.replace(trunkZero, "$1");
  if (number === undefined || otherLengthInPlan.test(number)) return undefined;
  return phonePattern.test(number) ? number : undefined;
}

function withCountryCode(found: string, isNorthAmerican: boolean): string | undefined {
  const digits = found.replace("(0)", "").replace(/\D/g, "");
  if (found.startsWith("+")) return `+${digits}`;
  if (found.startsWith("00")) return `+${digits.slice(2)}`;
  const [, national] = /^1?([2-9]\d{2}[2-9]\d{6})$/.exec(digits) ?? [];
  return isNorthAmerican && national !== undefined ? `+1${national}` : undefined;
}

/** What stands around an address cannot be a part of it: nothing is cut off. */
const emailLike =
  /(?<![^\s<>,;:"'()[\]\\])[^\s@<>,;:"'()[\]\\]{1,64}@[\p{L}\p{N}.-]{1,255}(?![\p{L}\p{N}.@-])/gu;

function readEmail(text: string): string | undefined {
  const [found = "", ...others] = text.match(emailLike) ?? [];
  const address = found.replace(/[.-]+$/, "");
  return others.length === 0 && z.email().max(254).safeParse(address).success ? address : undefined;
}
