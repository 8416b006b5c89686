import type { Dice } from "../../adapters/testing/index.ts";

/** The phone numbers that text the host application and are texted by it. */
export class PhoneNumbers {
  readonly #phones: string[] = [];
  #drawn = 0;

  constructor(count: number) {
    while (this.#phones.length < count) this.add(this.drawNew());
  }

  /** A number that has never been used. */
  drawNew(): string {
    return `+1555123${String(++this.#drawn).padStart(4, "0")}`;
  }

  add(phone: string): void {
    if (!this.#phones.includes(phone)) this.#phones.push(phone);
  }

  /** Stops using a number, unless it is the last one. */
  remove(phone: string): void {
    const i = this.#phones.indexOf(phone);
    if (i >= 0 && this.#phones.length > 1) this.#phones.splice(i, 1);
  }

  pick(dice: Dice): string {
    return dice.pick(this.#phones) ?? this.drawNew();
  }
}
