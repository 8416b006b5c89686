/** What the rules of carriers, receivers and models have in common. */

/** What happens first, second and so on. The last one repeats. */
type Steps<Step> = readonly [Step, ...Step[]];

/** Rules or a function. The first rule that matches decides. */
type Script<Rule, Request, Step> = readonly Rule[] | ((request: Request) => Step | undefined);

/** How the rules of one kind of script are read. */
interface RuleReader<Rule, Request, Step> {
  readonly matches: (rule: Rule, request: Request) => boolean;
  readonly stepsOf: (rule: Rule) => Steps<Step>;
}

/** Returns what a script says about a request. Undefined if it says nothing. */
export function stepFor<Rule, Request extends { readonly number: number }, Step>(
  script: Script<Rule, Request, Step>,
  request: Request,
  { matches, stepsOf }: RuleReader<Rule, Request, Step>,
): Step | undefined {
  if (typeof script === "function") return script(request);
  const rule = script.find((each) => matches(each, request));
  if (rule === undefined) return undefined;
  const steps = stepsOf(rule);
  return steps[Math.min(request.number, steps.length) - 1];
}

/** Whether a text has a part, or matches a pattern. Without either, every text matches. */
export function matchesText(wanted: string | RegExp | undefined, text: string): boolean {
  if (wanted === undefined) return true;
  return typeof wanted === "string" ? text.includes(wanted) : text.search(wanted) >= 0;
}
