/**
 * Understands what contacts write. Every method is a pure function: the same arguments give the
 * same result, without I/O, a clock or randomness. A replay of an agent's turn after a crash must
 * give the same result.
 *
 * The default is `english()` of "tidings/language". The engine itself applies opt-out, opt-in and
 * help keywords, whatever the language.
 */
export interface Language {
  /** Whether a message asks for a person to answer: "Can I talk to a human?" */
  asksForPerson(text: string): boolean;

  /** Whether a message as a whole cancels what the conversation is doing: "never mind". */
  isCancellation(text: string): boolean;

  /** Whether a message as a whole leaves a question unanswered: "skip", "I don't know". */
  isSkip(text: string): boolean;

  /** Reads a yes or a no. Returns undefined if the text says neither. */
  readBoolean(text: string): boolean | undefined;

  /**
   * Writes a yes or a no for a contact to read. `readBoolean` reads it back as the same value.
   * Playbooks show slots of type `boolean` like this.
   */
  formatBoolean(value: boolean): string;

  /**
   * Reads the one number in a text: "table for two". Returns undefined if the text has none or
   * several, or if the number could mean two things. The text that `String(number)` returns must
   * be read as the same number, unless it could mean two things.
   */
  readNumber(text: string): number | undefined;

  /**
   * Reads the one day that a text names: "tomorrow", "next Friday", "Dec 1".
   * Returns it as `2026-12-01`, and reads that form too. Returns undefined if the text names no day
   * or several, and if the day could mean two things.
   */
  readDate(text: string, context: DateContext): string | undefined;

  /**
   * Finds the one option that a text chooses: by its words, or by its place in the list. Returns
   * the option as it is in `options`; undefined if the text chooses none or could mean several.
   */
  readChoice(text: string, options: readonly string[]): string | undefined;

  /**
   * Returns the passages that have to do with a question, the most relevant first, at most `limit`.
   * Passages without any relevance are left out.
   */
  rankPassages(
    passages: readonly Passage[],
    question: string,
    limit: number,
  ): readonly RankedPassage[];
}

/** Every method, to check an object that a host application gives. */
export const languageMethods = [
  "asksForPerson",
  "isCancellation",
  "isSkip",
  "readBoolean",
  "formatBoolean",
  "readNumber",
  "readDate",
  "readChoice",
  "rankPassages",
] as const satisfies readonly (keyof Language)[];

/** Where and when a text with a date was written. */
export interface DateContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** An IANA name. Null, and a name that the runtime does not know, mean UTC. */
  readonly timeZone: string | null;
  /**
   * Whether `12/1` is December 1. If false, such a date is not read unless it can only mean one
   * day.
   */
  readonly isMonthFirst: boolean;
}

/** One piece of an agent's knowledge. */
export interface Passage {
  /** The title. The words of a question make a good one. */
  readonly title: string;
  /** What the agent may tell contacts. */
  readonly text: string;
}

/** A passage with the share of the question that it covers. */
export interface RankedPassage extends Passage {
  /** From 0 to 1. Near 1 if the passage covers everything that the question asks about. */
  readonly relevance: number;
}
