/** Slots: the values that a playbook asks for and stores. */
import * as z from "zod";
import { name, readonlyList, text } from "../../kernel/index.ts";
import { identifier } from "../fields.ts";
import { patternProblem } from "./play/pattern.ts";
import { playbookLimits } from "./step-types.ts";

/** How a slot's answer can be read. */
export const slotTypes = ["text", "number", "boolean", "date", "phone", "email"] as const;

/** Reserved words of conditions and templates. A slot cannot have such a name. */
const reservedWords: ReadonlySet<string> = new Set([
  "and",
  "or",
  "not",
  "contains",
  "true",
  "false",
  "null",
  "contact",
]);

/** A value that a playbook asks for and stores. */
export interface Slot {
  /**
   * The name, which steps, conditions and templates refer to: a letter, then up to 63 letters,
   * digits, `_` and `-`. Not one of `and`, `or`, `not`, `contains`, `true`, `false`, `null` and
   * `contact`.
   */
  readonly name: string;
  /**
   * How the contact's answer is read. Without `pattern` and `enum`, `text` takes any answer and
   * stores its first 1,000 characters. A `date` is stored as `2026-12-01`, a `phone` in E.164.
   */
  readonly type: "text" | "number" | "boolean" | "date" | "phone" | "email";
  /**
   * For type text: a regular expression (JavaScript, flag u) of up to 200 characters that the whole
   * answer must match. An answer of more than 100 characters does not match. Look-around and
   * back-references are refused. So are patterns that could match in too many ways, such as
   * `(a+)+` and `a+b+c+`.
   */
  readonly pattern?: string | undefined;
  /**
   * For type text: 1 to 50 options. The contact chooses one by its text or by its number in the
   * list. No two options may differ only in case.
   */
  readonly enum?: readonly string[] | undefined;
  /** Whether the playbook needs an answer. If false, it continues without one. */
  readonly required: boolean;
  /**
   * The question to the contact. A template: `{{slot}}`, `{{step.field}}` and `{{contact.name}}`
   * are replaced by values.
   */
  readonly prompt: string;
}

const options = readonlyList(
  z
    .array(name(100))
    .min(1)
    .max(playbookLimits.options)
    .refine(
      (list) => new Set(list.map((option) => option.trim().toLowerCase())).size === list.length,
      { error: "must not contain an option twice, regardless of case" },
    ),
).meta({ uniqueItems: true });

const pattern = text(200).superRefine((source, context) => {
  const message = patternProblem(source);
  if (message !== undefined) {
    context.addIssue({ code: "custom", message, params: { code: "invalid_pattern" } });
  }
});

export const slotSchema = z
  .strictObject({
    name: identifier.refine((given) => !reservedWords.has(given), {
      error: "must not be a reserved word of conditions",
    }),
    type: z.enum(slotTypes),
    pattern: pattern.optional(),
    enum: options.optional(),
    required: z.boolean(),
    prompt: name(1_600),
  })
  .refine(
    (slot) => slot.type === "text" || (slot.pattern === undefined && slot.enum === undefined),
    {
      path: ["type"],
      error: "must be text if there is a pattern or an enum",
    },
  )
  .refine((slot) => slot.pattern === undefined || slot.enum === undefined, {
    path: ["pattern"],
    error: "must not be combined with an enum",
  })
  .meta({ id: "Slot" });
