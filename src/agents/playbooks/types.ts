/** Scripts that an agent follows: what starts them, what they ask, what they do. */
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

/** What slots and steps are called: conditions and templates name them. */
const handle = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

/** These mean something else in a condition or a template. */
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
      error: "must not name an option twice",
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
      error: "means something else in a condition",
    }),
    type: z.enum(["text", "number", "boolean", "date", "phone", "email"]),
    pattern: pattern.optional().meta({
      description:
        "Of text: a regular expression (JavaScript, flag u) that the whole answer fits. No look-around, no back-reference, no repeated repeat.",
    }),
    enum: options
      .optional()
      .meta({ description: "Of text: what can be chosen, by name or by its place in the list." }),
    required: z
      .boolean()
      .meta({ description: "Where it isn't, the playbook goes on without an answer." }),
    prompt: name(1_600).meta({ description: "What the contact is asked. A template." }),
  })
  .refine(
    (slot) => slot.type === "text" || (slot.pattern === undefined && slot.enum === undefined),
    {
      path: ["type"],
      error: "must be text where there is a pattern or an enum",
    },
  )
  .refine((slot) => slot.pattern === undefined || slot.enum === undefined, {
    path: ["pattern"],
    error: "must not be there beside an enum",
  })
  .meta({ id: "Slot" });
export interface Slot extends z.infer<typeof slotSchema> {}

const place = {
  id: handle,
  next: handle.optional().meta({ description: "The step that follows; by default the one below." }),
};

/** Templates within: what comes of them is JSON of some kilobytes. */
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

const message = name(1_600).meta({
  description: "A template: `{{slot}}`, `{{step.field}}` or `{{contact.name}}`.",
});

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
      on_fail: handle
        .optional()
        .meta({ description: "The step that follows when no answer was of use." }),
    }),
    z.strictObject({ ...place, type: z.literal("set"), values }),
    z.strictObject({
      ...place,
      type: z.literal("run"),
      action: handle,
      args: values,
      on_error: handle
        .optional()
        .meta({ description: "The step that follows when the action fails." }),
    }),
    z.strictObject({
      ...place,
      type: z.literal("branch"),
      cases: z
        .array(z.strictObject({ when: condition, next: handle }))
        .min(1)
        .max(playbookLimits.cases, atMost(playbookLimits.cases))
        .meta({ description: "The first that holds says what follows; if none does, `next`." }),
    }),
    z.strictObject({ ...place, type: z.literal("instruct"), text: message }),
    z.strictObject({ ...place, type: z.literal("call"), playbook_id: ids.playbook }),
    z.strictObject({
      id: handle,
      type: z.literal("handoff"),
      reason: name(500).meta({ description: "A template." }),
    }),
    z.strictObject({ id: handle, type: z.literal("resolve") }),
  ]);

const retries = z.int().min(0).max(10);

export const playbookStepSchema = stepsWith(retries).meta({ id: "PlaybookStep" });
export type PlaybookStep = z.infer<typeof playbookStepSchema>;

const playbookStepInputSchema = stepsWith(
  retries.optional().meta({ default: defaultRetries, description: "Times that it asks again." }),
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

/** What of a playbook has versions: all that is given, but whether it is enabled. */
export type PlaybookDefinition = Omit<
  Playbook,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

/** A playbook as it is, or was, in one version. */
export interface PinnedPlaybook {
  readonly id: PlaybookId;
  readonly revision: number;
  readonly definition: PlaybookDefinition;
}

const phrases = (most: number) => z.array(name(64)).max(most, atMost(most));

const trigger = z.strictObject({
  keywords: phrases(50)
    .optional()
    .meta({ description: "Words or phrases in what a contact writes; in any case." }),
  intents: phrases(20)
    .optional()
    .meta({ description: "What a contact wants, as the model names it." }),
  when: text(500)
    .optional()
    .meta({ description: "When it is the right one, in words: for the model." }),
  priority: z
    .int()
    .min(-1_000)
    .max(1_000)
    .optional()
    .meta({ default: 0, description: "The highest goes first." }),
});

const definitionFields = {
  name: name(100),
  description: text(1_000),
  trigger,
  slots: z.array(slotSchema).max(playbookLimits.slots, atMost(playbookLimits.slots)),
  steps: z.array(playbookStepInputSchema).max(playbookLimits.steps, atMost(playbookLimits.steps)),
  on_cancel: handle.meta({
    description: "The step that follows when the contact calls it off. By default it is over.",
  }),
  max_turns: z
    .int()
    .min(1)
    .max(1_000)
    .meta({ description: "Messages of the contact's until it is given up." }),
};

const enabled = z.boolean().optional().meta({
  description:
    "Its steps are checked as a whole when it is enabled, and at each change from then on.",
});

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

/** What is absent stays as it is, and null takes away. */
export const updatePlaybookSchema = z
  .strictObject({
    id: reference,
    name: definitionFields.name.optional(),
    description: definitionFields.description.optional(),
    enabled,
    trigger: trigger.optional().meta({ description: "Replaced as a whole." }),
    slots: definitionFields.slots.optional().meta({ description: "Replaced as a whole." }),
    steps: definitionFields.steps.optional().meta({ description: "Replaced as a whole." }),
    on_cancel: definitionFields.on_cancel.nullable().optional(),
    max_turns: definitionFields.max_turns.nullable().optional(),
  })
  .meta({ id: "UpdatePlaybook" });
export interface UpdatePlaybook extends z.infer<typeof updatePlaybookSchema> {}

export const listPlaybooksSchema = z.strictObject(pageFields);
export interface ListPlaybooks extends z.infer<typeof listPlaybooksSchema> {}

/** Where a conversation stands in a playbook. One that was called by another lies on top of it. */
export interface Frame {
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The step that is next, or that waits: for the contact's answer, or for somebody's approval. */
  readonly step: string;
  /** Whether the step has asked already. */
  readonly asked: boolean;
  /** Answers to it that were of no use. */
  readonly tries: number;
  /** What the contact wrote since it began. */
  readonly turns: number;
  /** Steps that asked, or found their slot filled. One that is come to again asks, whatever the slot holds: no loop goes round in silence. */
  readonly passed: readonly string[];
  /** What is known: by the slot's name, and what actions answered by `<step>.<field>`. */
  readonly slots: { readonly [name: string]: Json };
}
