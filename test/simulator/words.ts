/** Words of which no two are alike, so that where one of them is found, it is known whose it is. */
export class Words {
  #drawn = 0;

  draw(): string {
    return `zq${++this.#drawn}z`;
  }
}

/** What tells who somebody is: such a word, a person's phone number, a visitor's address. */
const telling = /zq\d+z|\+1555123\d{4}|visitor:[0-9A-Z]{26}/g;

export function tellingIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(telling));
}
