import { refuseArguments } from "../../src/kernel/index.ts";
import type { Language } from "../../src/ports/index.ts";
import { formatBoolean, readBoolean, readChoice, readNumber } from "./english/answers.ts";
import { asksForPerson } from "./english/asks-for-person.ts";
import { readDate } from "./english/dates.ts";
import { rankPassages } from "./english/passages.ts";
import { isCancellation, isSkip } from "./english/set-phrases.ts";

/**
 * Understands English, and is the default of the engine option `language`. It works by word lists
 * and patterns, offline, and reads nothing rather than something wrong: if a text could mean two
 * things, the contact is asked again. `rankPassages` also matches questions in German, French,
 * Spanish and other languages of Western Europe, and compares any language by its words.
 */
export function english(): Language;
export function english(...given: readonly unknown[]): Language {
  refuseArguments("english", given);
  return {
    asksForPerson,
    isCancellation,
    isSkip,
    readBoolean,
    formatBoolean,
    readNumber,
    readDate,
    readChoice,
    rankPassages,
  };
}
