/** The resource of a playbook, and the inputs of its operations. */
import { z } from "zod";
import {
  ids,
  name,
  pageFields,
  pageSchema,
  type PlaybookId,
  reference,
  text,
  timestamp,
  wholeRecord,
} from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { patternProblem } from "./pattern.ts";

export const playbookLimits = {
  steps: 100,
  slots: 50,
  options: 50,
  cases: 20,
  values: 50,
} as const;
export const defaultRetries = 2;

/** The name of a slot or the id of a step. Conditions and templates refer to it. */
const handle = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

/** Reserved words of conditions and templates. A slot cannot have such a name. */
const taken: ReadonlySet<string> = new Set([
  "and",
  "or",
  "not",
  "contains",
  "true",
  "false",
  "null",
  "contact",
]);

const atMost = (most: number) => ({ error: `must have at most ${most} items` });

const options = z
  .array(name(100))
  .min(1)
  .max(playbookLimits.options, atMost(playbookLimits.options))
  .refine(
    (list) => new Set(list.map((option) => option.trim().toLowerCase())).size === list.length,
    {
      error: "must not contain duplicate options",
    },
  );

const pattern = text(200).superRefine((source, context) => {
  const message = patternProblem(source);
  if (message !== undefined) {
    context.addIssue({ code: "custom", message, params: { code: "invalid_pattern" } });
  }
});

export const slotSchema = z
  .strictObject({
    name: handle.refine((given) => !taken.has(given), {
      error: "must not be a reserved word of conditions",
    }),
    type: z.enum(["text", "number", "boolean", "date", "phone", "email"]),
    pattern: pattern
      .optional()
      .describe(
        "For type text: a regular expression (JavaScript, flag u) that the whole answer must " +
          "match. Look-around, back-references and nested repeats are not allowed.",
      ),
    enum: options
      .optional()
      .describe(
        "For type text: the options. The contact chooses one by its text or by its number in " +
          "the list.",
      ),
    required: z
      .boolean()
      .describe("Whether the playbook needs an answer. If false, it continues without one."),
    prompt: name(1_600).describe("The question to the contact. A template."),
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
export interface Slot extends z.infer<typeof slotSchema> {}

const place = {
  id: handle,
  next: handle.optional().describe("The step that follows. Default: the next one in the list."),
};

/** The limits keep the filled-in JSON at some kilobytes. */
const values = wholeRecord(
  z
    .record(z.string().min(1).max(64), z.json())
    .refine(
      (given) => Object.keys(given).length <= playbookLimits.values,
      atMost(playbookLimits.values),
    )
    .refine((given) => JSON.stringify(given).length <= 10_000, {
      error: "must have at most 10000 characters as JSON",
    })
    .meta({ maxProperties: playbookLimits.values, description: "Strings in it are templates." }),
);

const message = name(1_600).describe(
  "A template: `{{slot}}`, `{{step.field}}` or `{{contact.name}}`.",
);

const condition = name(500).meta({
  description: 'Such as `party_size > 6 and not (day == "sunday" or notes contains "dog")`.',
});

const stepsWith = <Retries extends z.ZodType>(retries: Retries) =>
  z.discriminatedUnion("type", [
    z.strictObject({ ...place, type: z.literal("send"), text: message }),
    z.strictObject({
      ...place,
      type: z.literal("ask"),
      slot: handle,
      retries,
      on_fail: handle.optional().describe("The step that follows when no answer was valid."),
    }),
    z.strictObject({ ...place, type: z.literal("set"), values }),
    z.strictObject({
      ...place,
      type: z.literal("run"),
      action: handle,
      args: values,
      on_error: handle.optional().describe("The step that follows when the action fails."),
    }),
    z.strictObject({
      ...place,
      type: z.literal("branch"),
      cases: z
        .array(z.strictObject({ when: condition, next: handle }))
        .min(1)
        .max(playbookLimits.cases, atMost(playbookLimits.cases))
        .describe(
          "The first case whose condition is true decides the step that follows. If none is " +
            "true, `next` follows.",
        ),
    }),
    z.strictObject({ ...place, type: z.literal("instruct"), text: message }),
    z.strictObject({ ...place, type: z.literal("call"), playbook_id: ids.playbook }),
    z.strictObject({
      id: handle,
      type: z.literal("handoff"),
      reason: name(500).describe("A template."),
    }),
    z.strictObject({ id: handle, type: z.literal("resolve") }),
  ]);

const retries = z.int().min(0).max(10);

export const playbookStepSchema = stepsWith(retries).meta({ id: "PlaybookStep" });
export type PlaybookStep = z.infer<typeof playbookStepSchema>;

const playbookStepInputSchema = stepsWith(
  retries
    .optional()
    .meta({ default: defaultRetries, description: "How many times the question is asked again." }),
).meta({ id: "PlaybookStepInput" });

export const playbookSchema = z
  .strictObject({
    id: ids.playbook,
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    trigger: z.strictObject({
      keywords: z.array(z.string()).optional(),
      intents: z.array(z.string()).optional(),
      when: z.string().optional(),
      priority: z.int(),
    }),
    slots: z.array(slotSchema),
    steps: z.array(playbookStepSchema),
    on_cancel: z.string().optional(),
    max_turns: z.int().min(1).optional(),
    version: z.int().min(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Playbook" });
export interface Playbook extends z.infer<typeof playbookSchema> {}

export const playbookPageSchema = pageSchema(playbookSchema).meta({ id: "PlaybookPage" });

/** The part of a playbook that has versions: everything the caller sets except `enabled`. */
export type PlaybookDefinition = Omit<
  Playbook,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

/** One version of a playbook. */
export interface PinnedPlaybook {
  readonly id: PlaybookId;
  readonly revision: number;
  readonly definition: PlaybookDefinition;
}

const phrases = (most: number) => z.array(name(64)).max(most, atMost(most));

const trigger = z.strictObject({
  keywords: phrases(50)
    .optional()
    .describe(
      "Words or phrases in the contact's message that start the playbook. Case is ignored.",
    ),
  intents: phrases(20)
    .optional()
    .describe("Intents, as the model names them, that start the playbook."),
  when: text(500).optional().describe("Describes to the model when to start the playbook."),
  priority: z
    .int()
    .min(-1_000)
    .max(1_000)
    .optional()
    .meta({ default: 0, description: "Higher values come first." }),
});

const definitionFields = {
  name: name(100),
  description: text(1_000),
  trigger,
  slots: z.array(slotSchema).max(playbookLimits.slots, atMost(playbookLimits.slots)),
  steps: z.array(playbookStepInputSchema).max(playbookLimits.steps, atMost(playbookLimits.steps)),
  on_cancel: handle.describe(
    "The step that follows when the contact cancels. By default the playbook ends.",
  ),
  max_turns: z
    .int()
    .min(1)
    .max(1_000)
    .describe("Maximum turns of the contact before the playbook is given up."),
};

const enabled = z
  .boolean()
  .optional()
  .describe(
    "Whether the playbook can be started. Its steps are checked as a whole when it is enabled " +
      "and at each later change.",
  );

export const createPlaybookSchema = z
  .strictObject({
    name: definitionFields.name,
    description: definitionFields.description.optional().meta({ default: "" }),
    enabled: enabled.meta({ ...enabled.meta(), default: false }),
    trigger: trigger.optional().meta({ default: { priority: 0 } }),
    slots: definitionFields.slots.optional().meta({ default: [] }),
    steps: definitionFields.steps,
    on_cancel: definitionFields.on_cancel.optional(),
    max_turns: definitionFields.max_turns.optional(),
  })
  .meta({ id: "CreatePlaybook" });
export interface CreatePlaybook extends z.infer<typeof createPlaybookSchema> {}

/** Absent fields keep their values. Null removes a field. */
export const updatePlaybookSchema = z
  .strictObject({
    id: reference,
    name: definitionFields.name.optional(),
    description: definitionFields.description.optional(),
    enabled,
    trigger: trigger.optional().describe("Replaced as a whole."),
    slots: definitionFields.slots.optional().describe("Replaced as a whole."),
    steps: definitionFields.steps.optional().describe("Replaced as a whole."),
    on_cancel: definitionFields.on_cancel.nullable().optional(),
    max_turns: definitionFields.max_turns.nullable().optional(),
  })
  .meta({ id: "UpdatePlaybook" });
export interface UpdatePlaybook extends z.infer<typeof updatePlaybookSchema> {}

export const listPlaybooksSchema = z.strictObject(pageFields);
export interface ListPlaybooks extends z.infer<typeof listPlaybooksSchema> {}

/**
 * A conversation's position in a playbook. The frame of a called playbook lies above its caller's
 * frame.
 */
export interface Frame {
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The next step, or the step that waits for the contact's answer or for an approval. */
  readonly step: string;
  /** Whether the step has asked already. */
  readonly asked: boolean;
  /** Invalid answers to the step. */
  readonly tries: number;
  /** Turns of the contact since the frame began. */
  readonly turns: number;
  /**
   * Steps that asked, or found their slot filled. When the playbook reaches such a step again, it
   * asks even if the slot is filled. So no loop runs without a question.
   */
  readonly passed: readonly string[];
  /** Values by slot name, and outputs of actions by `<step>.<field>`. */
  readonly slots: { readonly [name: string]: Json };
}
