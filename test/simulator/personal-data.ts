/**
 * Words that are used only once, so that a word tells which message or contact it belongs to. They
 * are so long that no hash or id contains one by chance.
 */
export class UniqueWords {
  #drawn = 0;

  next(): string {
    return `zqword${++this.#drawn}z`;
  }
}

/** Unique words, phone numbers of contacts, and addresses of visitors. */
const personalData = /zqword\d+z|\+1555123\d{4}|visitor:[0-9A-Z]{26}/g;

/** Everything in a value that identifies a person. */
export function personalDataIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(personalData));
}
