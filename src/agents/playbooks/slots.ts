/** What a contact's words come to as the value of a slot. */
import { z } from "zod";
import { phonePattern } from "../../kernel/fields.ts";
import type { Json } from "../../ports/agent-model.ts";
import { readDate } from "./dates.ts";
import { readNumber } from "./numbers.ts";
import { fitsPattern } from "./pattern.ts";
import type { Slot } from "./types.ts";
import { hasPhrase, isDenied, plainWords, wordsOf } from "./words.ts";
import { readYesNo } from "./yes-no.ts";

/** When something was written, and by whom. */
export interface Writing {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly contact: {
    /** A number of the North American plan says how numbers and dates without more are to be read. */
    readonly phone: string | null;
    /** IANA name; without one, and where this runtime doesn't know it, UTC. */
    readonly time_zone: string | null;
  };
}

/** Dates are `2026-12-01`, phone numbers E.164. */
export type SlotValue = string | number | boolean;

/** Characters of an answer that are read. More is no answer, but to a slot that takes any text. */
const mostRead = 1_000;

/**
 * The value that an answer has for a slot; undefined where it has none. Careful rather than clever: an answer that could mean two things
 * means nothing, and the contact is asked again. Written out, a value is read as itself again.
 */
export function readAnswer(
  slot: Slot,
  answer: string,
  { now, contact }: Writing,
): SlotValue | undefined {
  const text = answer.trim();
  if (isPlain(slot)) return readText(text);
  if (text === "" || text.length > mostRead) return undefined;
  const isNorthAmerican = contact.phone?.startsWith("+1") === true;
  switch (slot.type) {
    case "text":
      if (slot.enum !== undefined) return readChoice(slot.enum, text);
      return fitsPattern(slot.pattern ?? "", text) ? text : undefined;
    case "number":
      return readNumber(text);
    case "boolean":
      return readYesNo(text);
    case "date":
      return readDate(text, { now, time_zone: contact.time_zone, monthFirst: isNorthAmerican });
    case "phone":
      return readPhone(text, isNorthAmerican);
    case "email":
      return readEmail(text);
  }
}

/** The value that something given has for a slot: by a model, an action, another playbook, or the host. */
export function soundValue(slot: Slot, given: Json, writing: Writing): SlotValue | undefined {
  if (typeof given === "string") return readAnswer(slot, given, writing);
  if (typeof given === "number") {
    if (slot.type === "number") return given;
    return slot.type === "text" ? readAnswer(slot, String(given), writing) : undefined;
  }
  return typeof given === "boolean" && slot.type === "boolean" ? given : undefined;
}

/** What of a model's values slots may hold. Options, numbers and days are no words of its own. */
export function allowed(
  slots: readonly Slot[],
  given: { readonly [name: string]: Json },
  mayHold: (words: string) => boolean,
): { readonly [name: string]: Json } {
  const free = new Set(slots.filter(isFree).map(({ name }) => name));
  const kept = Object.entries(given).filter(
    ([name, value]) => !free.has(name) || typeof value !== "string" || mayHold(value),
  );
  return Object.fromEntries(kept);
}

function isFree({ type, enum: options }: Slot): boolean {
  return options === undefined && (type === "text" || type === "email" || type === "phone");
}

function readText(text: string): string | undefined {
  // Cut in the middle of a pair it would not be storable.
  const cut = text
    .slice(0, mostRead)
    .replace(/\p{Surrogate}/gu, "")
    .trim();
  return cut === "" ? undefined : cut;
}

/** Takes any text. */
export function isPlain(slot: Slot): boolean {
  return slot.type === "text" && slot.pattern === undefined && slot.enum === undefined;
}

/** By the option's words, by its place in the list, by what only it begins with, or as the only one that is named. */
function readChoice(options: readonly string[], text: string): string | undefined {
  const same = options.find((option) => option.trim().toLowerCase() === text.toLowerCase());
  if (same !== undefined) return same;
  const choices = options
    .map((option) => ({ option, words: wordsOf(option) }))
    .filter(({ words }) => words !== "");
  const said = plainWords(text);
  const only = (matches: typeof choices): string | undefined =>
    matches.length === 1 ? matches[0]?.option : undefined;
  const equal = only(choices.filter(({ words }) => words === said));
  if (equal !== undefined) return equal;
  const [, place] = /^(?:number |no |option )?(\d{1,2})$/.exec(said) ?? [];
  // Options that are numbers themselves are not counted.
  if (place !== undefined) {
    return choices.some(({ words }) => /\d/.test(words)) ? undefined : options[Number(place) - 1];
  }
  if (said === "" || isDenied(text)) return undefined;
  return (
    only(choices.filter(({ words }) => words.startsWith(said))) ??
    only(choices.filter(({ words }) => hasPhrase(said, words)))
  );
}

const phoneLike = /(?<![\p{L}\p{N}])(?:\+|00)?[\d(][\d\s().\-/]{5,24}\d(?![\p{L}\p{N}])/gu;

/** The one number in a text. With + or 00 and the country, or of ten digits where the contact is in the North American plan. */
function readPhone(text: string, isNorthAmerican: boolean): string | undefined {
  const [found, ...others] = text.match(phoneLike) ?? [];
  if (found === undefined || others.length > 0) return undefined;
  const digits = found.replace("(0)", "").replace(/\D/g, "");
  const [, national] = /^1?([2-9]\d{2}[2-9]\d{6})$/.exec(digits) ?? [];
  const number = found.startsWith("+")
    ? `+${digits}`
    : found.startsWith("00")
      ? `+${digits.slice(2)}`
      : isNorthAmerican && national !== undefined && `+1${national}`;
  return number !== false && phonePattern.test(number) ? number : undefined;
}

const emailLike = /[^\s@<>,;:"'()[\]\\]{1,64}@[\p{L}\p{N}.-]{1,255}/gu;

function readEmail(text: string): string | undefined {
  const [found = "", ...others] = text.match(emailLike) ?? [];
  const address = found.replace(/[.-]+$/, "");
  return others.length === 0 && z.email().max(254).safeParse(address).success ? address : undefined;
}
