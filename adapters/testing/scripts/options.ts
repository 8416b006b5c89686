import * as z from "zod";
import { memberOf, option, optionsObject, suggestion } from "../../../src/kernel/index.ts";

/**
 * The option `script` of a carrier, a receiver or a model: a function, which is not checked, or a
 * list of rules. `conditions` and `steps` are the fields of a rule.
 */
export function scriptOption<Script>(
  conditions: z.ZodRawShape,
  steps: Readonly<Record<string, z.ZodType>>,
): z.ZodType<Script, Script> {
  const lists = Object.entries(steps).map(([name, step]) => {
    const expected = "a list of what happens first, second and so on";
    return [name, z.array(step, { error: expected }).min(1, { error: expected })];
  });
  const rule = optionsObject({ ...conditions, ...Object.fromEntries(lists) }, "a rule");
  const rules = z.array(rule, { error: "a list of rules or a function" });
  return z.custom<Script>().superRefine((given, context) => {
    if (typeof given === "function") return;
    const { error } = rules.safeParse(given, { reportInput: true, jitless: true });
    for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
  });
}

/** One of these outcomes: its name alone, or an object with the name as `outcome`. */
export function outcomeOption(
  names: readonly string[],
  isOther: (given: unknown) => boolean = () => false,
): z.ZodCustom {
  const nameOf = (given: unknown): unknown =>
    typeof given === "string" ? given : memberOf(given, "outcome");
  return option(
    `an outcome: ${names.map((name) => `"${name}"`).join(", ")}`,
    (given) => names.some((name) => name === nameOf(given)) || isOther(given),
    {
      isQuoted: true,
      advice: (given) => suggestion(String(nameOf(given)), names),
    },
  );
}

/** A condition of a rule. */
export const textCondition = option<string>("a string", (given) => typeof given === "string");
export const patternCondition = option<string | RegExp>(
  "a string or a regular expression",
  (given) => typeof given === "string" || given instanceof RegExp,
);
