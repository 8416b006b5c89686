/** What the rules of all scripts have in common: of carriers, of receivers and of models. */

/** The list of what happens first, second and so on. The last one repeats. */
type Steps<Step> = readonly [Step, ...Step[]];

/** Returns the step with a number, counted from 1. */
export function nthStep<Step>(steps: Steps<Step>, number: number): Step {
  return steps[Math.min(number, steps.length) - 1] ?? steps[0];
}

/** Whether a text has a part, or matches a pattern. Without either, every text matches. */
export function matchesText(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? text.includes(wanted) : text.search(wanted) >= 0;
}
