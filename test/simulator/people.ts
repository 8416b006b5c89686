import type { Dice } from "./dice.ts";

/** The phones of those who text and are texted. */
export class People {
  readonly #phones: string[] = [];
  #drawn = 0;

  constructor(count: number) {
    while (this.#phones.length < count) this.join(this.draw());
  }

  /** A number that nobody has had. */
  draw(): string {
    return `+1555123${String(++this.#drawn).padStart(4, "0")}`;
  }

  join(phone: string): void {
    if (!this.#phones.includes(phone)) this.#phones.push(phone);
  }

  /** Nobody texts it any more, and it texts nobody: one always stays. */
  leave(phone: string): void {
    const i = this.#phones.indexOf(phone);
    if (i >= 0 && this.#phones.length > 1) this.#phones.splice(i, 1);
  }

  some(dice: Dice): string {
    return dice.pick(this.#phones) ?? this.draw();
  }
}
