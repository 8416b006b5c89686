/** Rules that say when an agent hands its conversation off to people. */
import * as z from "zod";
import { name, readonlyList } from "../../kernel/index.ts";
import { whole } from "../fields.ts";

/**
 * What makes an agent hand off: the contact asks for a person, writes a keyword, has an intent or
 * is upset; the model is unsure, fails or is too slow; an action fails; the agent has sent too many
 * replies, finds no answer, or is stopped by a guardrail; the token budget is used up; the contact
 * seems to be a machine.
 */
export type HandoffCause = (typeof handoffCauses)[number];

/** The causes that come from inside the engine. */
const troubles = [
  "model_error",
  "model_timeout",
  "action_failure",
  "guardrail",
  "budget",
  "loop_suspected",
] as const;
/** The causes of rules that have no value. */
const plainCauses = ["customer_request", ...troubles] as const;
const handoffCauses = [
  "customer_request",
  "keyword",
  "intent",
  "confidence_below",
  "sentiment_below",
  "max_turns",
  "failed_attempts",
  ...troubles,
] as const;

export const handoffCauseSchema = z.enum(handoffCauses);

/**
 * A rule that says when an agent hands its conversation off to people. The cause decides the type
 * of the value.
 */
export type HandoffRule =
  | KeywordRule
  | IntentRule
  | ConfidenceRule
  | SentimentRule
  | MaxTurnsRule
  | FailedAttemptsRule
  | RuleWithoutValue;

/** Hands off when the contact writes a keyword. */
export interface KeywordRule {
  /** The contact's message contains a keyword. */
  readonly on: "keyword";
  /** One keyword or phrase of up to 100 characters, or up to 50 of them. Case is ignored. */
  readonly value: string | readonly string[];
}

/** Hands off when the contact has a certain intent. */
export interface IntentRule {
  /** The model recognizes an intent in the contact's message. */
  readonly on: "intent";
  /** The name of an intent, of up to 100 characters, or up to 50 names. */
  readonly value: string | readonly string[];
}

/** Hands off when the model is unsure of its answer. */
export interface ConfidenceRule {
  /** The model's confidence is below the value. The answer is not sent. */
  readonly on: "confidence_below";
  /** The lowest sufficient confidence, from 0 to 1. */
  readonly value: number;
}

/** Hands off when the contact is upset. */
export interface SentimentRule {
  /** The contact's sentiment score is below the value, or one message scores -0.6 or lower. */
  readonly on: "sentiment_below";
  /** The lowest sufficient score, from -1 to 1. */
  readonly value: number;
}

/** Hands off after a number of replies. */
export interface MaxTurnsRule {
  /** The agent has sent the number of replies, or a playbook exceeds its own `max_turns`. */
  readonly on: "max_turns";
  /** The number of replies, from 1 to 1,000. */
  readonly value: number;
}

/** Hands off after a number of turns without an answer. */
export interface FailedAttemptsRule {
  /**
   * The agent would send the fallback text in that many turns in a row, or a contact gives no valid
   * answer to a required question of a playbook.
   */
  readonly on: "failed_attempts";
  /** The number of turns, from 1 to 1,000. */
  readonly value: number;
}

/** Hands off for a cause that needs no value. */
export interface PlainRule {
  /**
   * The contact asks for a person, the model fails or is too slow, an action fails, or a guardrail
   * stops the agent. An agent hands off for `budget` and `loop_suspected` even without a rule.
   */
  readonly on: (typeof plainCauses)[number];
}

/** A rule for a cause that needs no value, as part of an agent. */
export interface RuleWithoutValue extends PlainRule {
  /** Always absent, so that `value` can be read of any rule. */
  readonly value?: undefined;
}

/** Describes a stored rule as one object for all causes. `handoffRuleInputSchema` checks rules. */
export const handoffRuleSchema = z
  .strictObject({
    on: handoffCauseSchema.describe("What makes the agent hand off."),
    value: z
      .union([z.number(), z.string(), readonlyList(z.array(z.string()))])
      .optional()
      .describe(
        "For `keyword` and `intent`, one or several words. For `confidence_below`, " +
          "`sentiment_below`, `max_turns` and `failed_attempts`, a number. Other causes have no " +
          "value.",
      ),
  })
  .meta({ id: "HandoffRule" }) as z.ZodType<HandoffRule>;

const words = z.union([name(100), readonlyList(z.array(name(100)).min(1).max(50))], {
  error:
    "must be a string of 1 to 100 characters that is not blank, or a list of 1 to 50 such strings",
});
const count = whole(1, 1_000);

export const handoffRuleInputSchema = z.discriminatedUnion("on", [
  z.strictObject({ on: z.literal("keyword"), value: words }).meta({ interface: "KeywordRule" }),
  z.strictObject({ on: z.literal("intent"), value: words }).meta({ interface: "IntentRule" }),
  z
    .strictObject({
      on: z.literal("confidence_below"),
      value: z.number().min(0).max(1),
    })
    .meta({ interface: "ConfidenceRule" }),
  z
    .strictObject({
      on: z.literal("sentiment_below"),
      value: z.number().min(-1).max(1),
    })
    .meta({ interface: "SentimentRule" }),
  z
    .strictObject({
      on: z.literal("max_turns"),
      value: count,
    })
    .meta({ interface: "MaxTurnsRule" }),
  z
    .strictObject({
      on: z.literal("failed_attempts"),
      value: count,
    })
    .meta({ interface: "FailedAttemptsRule" }),
  z
    .strictObject({
      on: z.enum(plainCauses),
    })
    .meta({ interface: "PlainRule" }),
]);
