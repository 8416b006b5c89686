/** Agents that answer, and when they let go. */
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
      .meta({ description: "Addresses that it answers for; null: all." }),
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

/** What of an agent has versions: all that is given, but whether it is enabled. */
export type AgentDefinition = Omit<
  Agent,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

const isFewerThan = (most: number) => ({ error: `must have at most ${most} items` });
const namesNoneTwice = (list: readonly string[]): boolean => new Set(list).size === list.length;
const twice = { error: "must not name one twice" };

export const actionName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "must be a letter and then up to 63 letters, digits, _ and -",
});

const words = z.union([name(100), z.array(name(100)).min(1).max(50, isFewerThan(50))]);

/** What a rule's value means hangs on what it is about; most have none. */
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

/** Of what has parts, the parts: what is absent stays, or is as usual; null takes away what needn't be there. */
function definitionFields({ message_characters }: Limits) {
  const message = name(message_characters);
  return {
    name: name(200),
    channels: z.array(channelSchema).min(1).refine(namesNoneTwice, twice),
    senders: z
      .array(senderAddress)
      .min(1)
      .max(50, isFewerThan(50))
      .refine(namesNoneTwice, twice)
      .nullable()
      .meta({ default: null, description: "Addresses that it answers for; null: all." }),
    persona: z
      .strictObject({
        role: name(500).meta({ default: standard.persona.role }),
        tone: name(500).nullable(),
        language: text(64)
          .refine(isLanguage, { error: "must be a language tag (BCP 47), such as pt-BR" })
          .nullable()
          .meta({ description: "BCP 47 tag; by default the contact's." }),
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
            description: "The highest goes first.",
          }),
        }),
      )
      .max(50, isFewerThan(50))
      .meta({ default: standard.guidelines }),
    playbook_ids: z
      .array(ids.playbook)
      .max(50, isFewerThan(50))
      .refine(namesNoneTwice, twice)
      .meta({ default: standard.playbook_ids }),
    knowledge: z
      .array(z.strictObject({ title: name(200), text: name(4_000) }))
      .max(100, isFewerThan(100))
      .meta({ default: standard.knowledge, description: "What it may tell." }),
    actions: z.array(actionName).max(50, isFewerThan(50)).refine(namesNoneTwice, twice).meta({
      default: standard.actions,
      description: "Names of the host's functions that it may call.",
    }),
    reply: z
      .strictObject({
        mode: z.enum(["generated", "canned_strict"]).meta({
          default: standard.reply.mode,
          description:
            "`canned_strict`: it says what playbooks and knowledge say, and nothing of its own.",
        }),
        max_chars: z
          .int()
          .min(20)
          .max(message_characters)
          .meta({ default: standard.reply.max_chars }),
        debounce_ms: z.int().min(0).max(60_000).meta({
          default: standard.reply.debounce_ms,
          description: "How long it waits for more of the contact's words before it answers.",
        }),
        signature: name(100).nullable(),
      })
      .partial(),
    handoff: z
      .strictObject({
        rules: z
          .array(givenRule)
          .max(50, isFewerThan(50))
          .meta({ default: standard.handoff.rules }),
        message: message.nullable().meta({
          default: standard.handoff.message,
          description: "What the contact is told when people take over; null: nothing.",
        }),
        queue_timeout_seconds: z.int().min(1).max(604_800).nullable().meta({
          description:
            "When nobody has taken it over by then, `on_no_humans` decides. By default it waits.",
        }),
        on_no_humans: z
          .enum(["stay_ai", "leave_message"])
          .meta({ default: standard.handoff.on_no_humans }),
        resume_after_human: z.boolean().meta({
          default: standard.handoff.resume_after_human,
          description:
            "Whether it answers again when the contact comes back after people have closed it.",
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
      description: "What the contact is told when the agent comes to nothing.",
    }),
  };
}

/** What an agent is that was given a name and channels and nothing else. */
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

const enabled = z.boolean().optional().meta({
  description:
    "Whether it answers. What it has while it is disabled goes to people when the contact writes.",
});

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
    description: "What is absent stays, also within parts. Lists are replaced as a whole.",
  });
export interface UpdateAgent extends z.infer<ReturnType<typeof updateAgentSchema>> {}

/** Characters of its JSON. */
const mostInput = 16_384;

export const triggerAgentSchema = z
  .strictObject({
    id: reference,
    contact_id: reference.optional().meta({
      description:
        "In its active conversation, the one of the last activity; else in a new one by text.",
    }),
    conversation_id: reference.optional(),
    playbook_id: reference.optional(),
    action: actionName.optional(),
    input: z
      .json()
      .refine((given) => JSON.stringify(given).length <= mostInput, {
        error: `must have at most ${mostInput} characters as JSON`,
      })
      .optional()
      .meta({
        description:
          "Of a playbook slots by their names; of an action what it takes. By default `{}`.",
      }),
  })
  .refine(
    ({ contact_id, conversation_id }) =>
      (contact_id === undefined) !== (conversation_id === undefined),
    {
      path: ["contact_id"],
      error: "contact_id or conversation_id: one of them must be given",
      when: isObject,
    },
  )
  .refine(({ playbook_id, action }) => (playbook_id === undefined) !== (action === undefined), {
    path: ["playbook_id"],
    error: "playbook_id or action: one of them must be given",
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
    author_id: name(200).optional().meta({ description: "Who of the host's people decides." }),
  })
  .meta({ id: "ApproveRun" });
export interface ApproveRun extends z.infer<typeof approveRunSchema> {}
