/** The kinds of bugs that are planted. Each area has its own file in `areas`. */
export const areaNames = [
  "boundary",
  "race",
  "order",
  "scope",
  "guard",
  "lease",
  "evidence",
  "retry",
  "merge-and-erasure",
  "pagination",
  "signature",
  "consent",
  "pace",
  "adapter",
] as const;

export type Area = (typeof areaNames)[number];

/** A bug that an engineer could make, as one change of one file. */
export interface Mutant {
  /** Unique, in kebab case. */
  readonly name: string;
  readonly area: Area;
  /** What is wrong, and how it would affect users. */
  readonly sentence: string;
  /** The file that is changed, from the root of the repository. */
  readonly file: string;
  /** The text to replace. It occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The files that test this behavior. At least one of their tests must fail. */
  readonly tests: readonly string[];
}

/** The mutants of one file in `areas`. */
export function inArea(area: Area, mutants: readonly Omit<Mutant, "area">[]): readonly Mutant[] {
  return mutants.map((mutant) => ({ ...mutant, area }));
}

/**
 * Returns the text of the file with the bug.
 * @throws Error if the text to replace does not occur exactly once
 */
export function planted({ name, file, find, replace }: Mutant, text: string): string {
  const occurrences = text.split(find).length - 1;
  if (occurrences !== 1) {
    throw new Error(
      `mutant ${name}: \`find\` must occur once in ${file}, but occurs ${occurrences} times. ` +
        "Update the mutant together with the code that it changes.",
    );
  }
  return text.replace(find, () => replace);
}
