/** The resource of an agent, and the inputs of its operations. */
import { z } from "zod";
import {
  channelSchema,
  ids,
  type Limits,
  name,
  pageFields,
  reference,
  senderAddress,
  text,
  timestamp,
} from "../kernel/index.ts";
import { isLanguage } from "../contacts/index.ts";
import { runStatusSchema } from "./runs/types.ts";

export const handoffCauseSchema = z.enum([
  "customer_request",
  "keyword",
  "intent",
  "confidence_below",
  "sentiment_below",
  "max_turns",
  "failed_attempts",
  "model_error",
  "model_timeout",
  "action_failure",
  "guardrail",
  "budget",
  "loop_suspected",
]);
export type HandoffCause = z.infer<typeof handoffCauseSchema>;

export const handoffRuleSchema = z
  .strictObject({
    on: handoffCauseSchema,
    value: z.union([z.number(), z.string(), z.array(z.string())]).optional(),
  })
  .meta({ id: "HandoffRule" });
export interface HandoffRule extends z.infer<typeof handoffRuleSchema> {}

export const agentSchema = z
  .strictObject({
    id: ids.agent,
    name: z.string(),
    enabled: z.boolean(),
    channels: z.array(channelSchema),
    senders: z
      .array(z.string())
      .nullable()
      .describe("Sender addresses that the agent answers for. Null means all of them."),
    persona: z.strictObject({
      role: z.string(),
      tone: z.string().optional(),
      language: z.string().optional(),
    }),
    instructions: z.string(),
    guidelines: z.array(z.strictObject({ when: z.string(), then: z.string(), priority: z.int() })),
    playbook_ids: z.array(ids.playbook),
    knowledge: z.array(z.strictObject({ title: z.string(), text: z.string() })),
    actions: z.array(z.string()),
    reply: z.strictObject({
      mode: z.enum(["generated", "canned_strict"]),
      max_chars: z.int().min(1),
      debounce_ms: z.int().min(0),
      signature: z.string().optional(),
    }),
    handoff: z.strictObject({
      rules: z.array(handoffRuleSchema),
      message: z.string().optional(),
      queue_timeout_seconds: z.int().min(1).optional(),
      on_no_humans: z.enum(["stay_ai", "leave_message"]),
      resume_after_human: z.boolean(),
    }),
    limits: z.strictObject({
      max_ai_turns: z.int().min(1),
      max_steps_per_turn: z.int().min(1),
      max_tokens_per_conversation: z.int().min(1),
      timeout_ms: z.int().min(1),
      max_replies_per_minute: z.int().min(1),
    }),
    fallback_text: z.string(),
    version: z.int().min(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Agent" });
export interface Agent extends z.infer<typeof agentSchema> {}

/** The part of an agent that has versions: everything the caller sets except `enabled`. */
export type AgentDefinition = Omit<
  Agent,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

const atMost = (max: number) => ({ error: `must have at most ${max} items` });
const namesNoneTwice = (list: readonly string[]): boolean => new Set(list).size === list.length;
const twice = { error: "must not contain duplicates" };

export const actionName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

const words = z.union([name(100), z.array(name(100)).min(1).max(50, atMost(50))]);

/** The cause decides the type of the value. Most causes have no value. */
const givenRule = z.discriminatedUnion("on", [
  z.strictObject({ on: z.enum(["keyword", "intent"]), value: words }),
  z.strictObject({ on: z.literal("confidence_below"), value: z.number().min(0).max(1) }),
  z.strictObject({ on: z.literal("sentiment_below"), value: z.number().min(-1).max(1) }),
  z.strictObject({
    on: z.enum(["max_turns", "failed_attempts"]),
    value: z.int().min(1).max(1_000),
  }),
  z.strictObject({
    on: handoffCauseSchema.exclude([
      "keyword",
      "intent",
      "confidence_below",
      "sentiment_below",
      "max_turns",
      "failed_attempts",
    ]),
  }),
]);

/**
 * The fields of create and update. An absent field, also within an object, keeps its value or gets
 * its default. Null removes an optional field.
 */
function definitionFields({ message_characters }: Limits) {
  const message = name(message_characters);
  return {
    name: name(200),
    channels: z.array(channelSchema).min(1).refine(namesNoneTwice, twice),
    senders: z
      .array(senderAddress)
      .min(1)
      .max(50, atMost(50))
      .refine(namesNoneTwice, twice)
      .nullable()
      .meta({
        default: null,
        description: "Sender addresses that the agent answers for. Null means all of them.",
      }),
    persona: z
      .strictObject({
        role: name(500).meta({ default: standard.persona.role }),
        tone: name(500).nullable(),
        language: text(64)
          .refine(isLanguage, { error: "must be a language tag (BCP 47), such as pt-BR" })
          .nullable()
          .describe("BCP 47 tag. Default: the contact's language."),
      })
      .partial(),
    instructions: text(10_000).meta({ default: standard.instructions }),
    guidelines: z
      .array(
        z.strictObject({
          when: name(500),
          then: name(1_000),
          priority: z.int().min(-1_000).max(1_000).optional().meta({
            default: 0,
            description: "Higher values come first.",
          }),
        }),
      )
      .max(50, atMost(50))
      .meta({ default: standard.guidelines }),
    playbook_ids: z
      .array(ids.playbook)
      .max(50, atMost(50))
      .refine(namesNoneTwice, twice)
      .meta({ default: standard.playbook_ids }),
    knowledge: z
      .array(z.strictObject({ title: name(200), text: name(4_000) }))
      .max(100, atMost(100))
      .meta({
        default: standard.knowledge,
        description: "Facts that the agent may tell contacts.",
      }),
    actions: z.array(actionName).max(50, atMost(50)).refine(namesNoneTwice, twice).meta({
      default: standard.actions,
      description: "Names of the host application's actions that the agent may call.",
    }),
    reply: z
      .strictObject({
        mode: z.enum(["generated", "canned_strict"]).meta({
          default: standard.reply.mode,
          description:
            "`generated`: the model writes replies. `canned_strict`: the agent sends only texts " +
            "from playbooks and knowledge, word for word.",
        }),
        max_chars: z
          .int()
          .min(20)
          .max(message_characters)
          .meta({ default: standard.reply.max_chars }),
        debounce_ms: z.int().min(0).max(60_000).meta({
          default: standard.reply.debounce_ms,
          description:
            "Milliseconds without a further message from the contact before the agent answers.",
        }),
        signature: name(100).nullable(),
      })
      .partial(),
    handoff: z
      .strictObject({
        rules: z.array(givenRule).max(50, atMost(50)).meta({ default: standard.handoff.rules }),
        message: message.nullable().meta({
          default: standard.handoff.message,
          description: "Text sent to the contact when people take over. Null sends nothing.",
        }),
        queue_timeout_seconds: z
          .int()
          .min(1)
          .max(604_800)
          .nullable()
          .describe(
            "Seconds that a conversation waits in the queue before `on_no_humans` applies. " +
              "Default: no limit.",
          ),
        on_no_humans: z
          .enum(["stay_ai", "leave_message"])
          .meta({ default: standard.handoff.on_no_humans }),
        resume_after_human: z.boolean().meta({
          default: standard.handoff.resume_after_human,
          description:
            "Whether the agent answers again when the contact writes after people have closed " +
            "the conversation.",
        }),
      })
      .partial(),
    limits: z
      .strictObject({
        max_ai_turns: z.int().min(1).max(1_000).meta({ default: standard.limits.max_ai_turns }),
        max_steps_per_turn: z
          .int()
          .min(1)
          .max(100)
          .meta({ default: standard.limits.max_steps_per_turn }),
        max_tokens_per_conversation: z.int().min(1).max(100_000_000).meta({
          default: standard.limits.max_tokens_per_conversation,
        }),
        timeout_ms: z.int().min(1).max(120_000).meta({ default: standard.limits.timeout_ms }),
        max_replies_per_minute: z
          .int()
          .min(1)
          .max(60)
          .meta({ default: standard.limits.max_replies_per_minute }),
      })
      .partial(),
    fallback_text: message.meta({
      default: standard.fallback_text,
      description: "Text sent to the contact when the agent finds no answer.",
    }),
  };
}

/** The defaults of an agent that is created with a name and channels only. */
export const standard: Omit<AgentDefinition, "name" | "channels"> = {
  senders: null,
  persona: { role: "assistant" },
  instructions: "",
  guidelines: [],
  playbook_ids: [],
  knowledge: [],
  actions: [],
  reply: { mode: "generated", max_chars: 480, debounce_ms: 1_500 },
  handoff: {
    rules: [{ on: "customer_request" }],
    message: "Thank you. A colleague will get back to you.",
    on_no_humans: "leave_message",
    resume_after_human: true,
  },
  limits: {
    max_ai_turns: 20,
    max_steps_per_turn: 20,
    max_tokens_per_conversation: 100_000,
    timeout_ms: 20_000,
    max_replies_per_minute: 10,
  },
  fallback_text: "Thank you for your message. We will get back to you as soon as we can.",
};

const enabled = z
  .boolean()
  .optional()
  .describe(
    "Whether the agent answers. While it is disabled, its conversations go to people when their " +
      "contacts write.",
  );

export const createAgentSchema = (limits: Limits) => {
  const fields = definitionFields(limits);
  return z
    .strictObject(fields)
    .partial()
    .extend({
      name: fields.name,
      channels: fields.channels,
      enabled: enabled.meta({ default: true }),
    })
    .meta({ id: "CreateAgent" });
};
export interface CreateAgent extends z.infer<ReturnType<typeof createAgentSchema>> {}

export const updateAgentSchema = (limits: Limits) =>
  z.strictObject(definitionFields(limits)).partial().extend({ id: reference, enabled }).meta({
    id: "UpdateAgent",
    description:
      "Absent fields keep their values, also within objects. Lists are replaced as a whole.",
  });
export interface UpdateAgent extends z.infer<ReturnType<typeof updateAgentSchema>> {}

/** Characters of an input as JSON. */
const maxInput = 16_384;

export const triggerAgentSchema = z
  .strictObject({
    id: reference,
    contact_id: reference
      .optional()
      .describe(
        "Runs in the contact's active conversation with the latest activity, or in a new text " +
          "conversation if none is active.",
      ),
    conversation_id: reference.optional(),
    playbook_id: reference.optional(),
    action: actionName.optional(),
    input: z
      .json()
      .refine((given) => JSON.stringify(given).length <= maxInput, {
        error: `must have at most ${maxInput} characters as JSON`,
      })
      .optional()
      .describe(
        "For a playbook, slot values by slot name. For an action, its input. Default: `{}`.",
      ),
  })
  .refine(
    ({ contact_id, conversation_id }) =>
      (contact_id === undefined) !== (conversation_id === undefined),
    {
      path: ["contact_id"],
      error: "give either contact_id or conversation_id, not both",
      when: isObject,
    },
  )
  .refine(({ playbook_id, action }) => (playbook_id === undefined) !== (action === undefined), {
    path: ["playbook_id"],
    error: "give either playbook_id or action, not both",
    when: isObject,
  })
  .meta({ id: "TriggerAgent" });
export interface TriggerAgent extends z.infer<typeof triggerAgentSchema> {}

function isObject({ value }: { value: unknown }): boolean {
  return typeof value === "object" && value !== null;
}

export const listRunsSchema = z.strictObject({
  id: reference,
  ...pageFields,
  status: runStatusSchema.optional(),
  conversation_id: reference.optional(),
});
export interface ListRuns extends z.infer<typeof listRunsSchema> {}

export const runOfAgentSchema = z.strictObject({ id: reference, run_id: reference });
export interface RunOfAgent extends z.infer<typeof runOfAgentSchema> {}

export const approveRunSchema = z
  .strictObject({
    id: reference,
    run_id: reference,
    decision: z.enum(["approve", "deny"]),
    author_id: name(200)
      .optional()
      .describe("The host application's id of the person who decides."),
  })
  .meta({ id: "ApproveRun" });
export interface ApproveRun extends z.infer<typeof approveRunSchema> {}
