/** Agents that answer, and when they let go. */
import { z } from "zod";
import { channelSchema, ids, timestamp } from "../../fields.ts";

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
    senders: z.array(z.string()).nullable().meta({ description: "Addresses that it answers for; null: all." }),
    persona: z.strictObject({ role: z.string(), tone: z.string().optional(), language: z.string().optional() }),
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
export type AgentDefinition = Omit<Agent, "id" | "enabled" | "version" | "created_at" | "updated_at">;
