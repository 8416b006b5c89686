import { containsPhrase, normalizedWords } from "../../../src/kernel/index.ts";
import { isDenied, withoutCourtesies } from "./phrases.ts";

interface Choice {
  readonly option: string;
  readonly words: string;
}

/**
 * Compares an answer with the options in this order: the same text, the same words, the place in
 * the list, the only option that begins with the answer, the only option that the answer contains.
 */
export function readChoice(text: string, options: readonly string[]): string | undefined {
  const same = options.find((option) => option.trim().toLowerCase() === text.toLowerCase());
  if (same !== undefined) return same;
  const choices = options
    .map((option) => ({ option, words: normalizedWords(option) }))
    .filter(({ words }) => words !== "");
  const answer = withoutCourtesies(text);
  const equal = onlyOption(choices, ({ words }) => words === answer);
  if (equal !== undefined) return equal;
  const [, place] = /^(?:number |no |option )?(\d{1,2})$/.exec(answer) ?? [];
  if (place !== undefined) {
    // If the options have digits themselves, a digit may stand for one of them, not for a place.
    return choices.some(({ words }) => /\d/.test(words)) ? undefined : options[Number(place) - 1];
  }
  if (answer === "" || isDenied(text)) return undefined;
  return (
    onlyOption(choices, ({ words }) => words.startsWith(answer)) ??
    onlyOption(choices, ({ words }) => containsPhrase(answer, words))
  );
}

function onlyOption(
  choices: readonly Choice[],
  matches: (choice: Choice) => boolean,
): string | undefined {
  const [first, ...others] = choices.filter(matches);
  return others.length === 0 ? first?.option : undefined;
}
