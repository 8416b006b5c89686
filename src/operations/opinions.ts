import type { HostOpinions, Opinion, PolicyFacts } from "../ports/index.ts";

/** Of a host without policies. */
export const noOpinions: HostOpinions = { any: false, of: () => [] };

/** The host's policies have yet to say what they think of this. */
export class Unasked extends Error {
  override readonly name = "Unasked";
  readonly facts: PolicyFacts;

  constructor(facts: PolicyFacts) {
    super("the host's policies were not asked yet");
    this.facts = facts;
  }
}

/** What they were asked in one transaction. Who runs again, a moment later, needs not ask them again unless another fact changed. */
export class AskedOpinions implements HostOpinions {
  readonly any = true;
  readonly #known = new Map<string, readonly Opinion[]>();

  of(facts: PolicyFacts): readonly Opinion[] {
    const known = this.#known.get(nameOf(facts));
    if (known === undefined) throw new Unasked(facts);
    return known;
  }

  keep(facts: PolicyFacts, opinions: readonly Opinion[]): void {
    this.#known.set(nameOf(facts), opinions);
  }
}

function nameOf({ now: _, ...facts }: PolicyFacts): string {
  return JSON.stringify(facts);
}
