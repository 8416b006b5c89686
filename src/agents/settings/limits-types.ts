import * as z from "zod";
import { whole } from "../fields.ts";

/** How much an agent may do. */
export interface AgentLimits {
  /**
   * How many replies the agent may send in one conversation. The next time the contact writes, the
   * agent hands off. The count starts again after a hand-back.
   */
  readonly max_ai_turns: number;
  /**
   * How many steps of a playbook, and how many answers of the model, one turn may take. A turn that
   * needs more counts as `guardrail`.
   */
  readonly max_steps_per_turn: number;
  /** How many model tokens the agent may use in one conversation. Then it hands off. */
  readonly max_tokens_per_conversation: number;
  /** How long a turn may take, in milliseconds. A later answer of the model is dropped. */
  readonly timeout_ms: number;
  /** How many replies the agent may send in one conversation per minute. Further replies wait. */
  readonly max_replies_per_minute: number;
  /** How many runs of the agent may be triggered per minute. A further trigger is refused. */
  readonly max_triggers_per_minute: number;
}

export const agentLimitsSchema = z
  .strictObject({
    max_ai_turns: whole(1),
    max_steps_per_turn: whole(1),
    max_tokens_per_conversation: whole(1),
    timeout_ms: whole(1),
    max_replies_per_minute: whole(1),
    max_triggers_per_minute: whole(1),
  })
  .meta({ interface: "AgentLimits" });

export const defaultAgentLimits: AgentLimits = {
  max_ai_turns: 20,
  max_steps_per_turn: 20,
  max_tokens_per_conversation: 100_000,
  timeout_ms: 20_000,
  max_replies_per_minute: 10,
  max_triggers_per_minute: 100,
};

/** How much an agent may do. Absent fields keep their values or get their defaults. */
export interface AgentLimitsInput {
  /**
   * How many replies the agent may send in one conversation: 1 to 1,000. The next time the contact
   * writes, the agent hands off. The count starts again after a hand-back.
   * @default 20
   */
  readonly max_ai_turns?: number | undefined;
  /**
   * How many steps of a playbook, and how many answers of the model, one turn may take: 1 to 100. A
   * turn that needs more counts as `guardrail`.
   * @default 20
   */
  readonly max_steps_per_turn?: number | undefined;
  /**
   * How many model tokens the agent may use in one conversation: 1 to 100,000,000. Then it hands
   * off.
   * @default 100000
   */
  readonly max_tokens_per_conversation?: number | undefined;
  /**
   * How long a turn may take: 1 to 120,000 milliseconds. A later answer of the model is dropped.
   * @default 20000
   */
  readonly timeout_ms?: number | undefined;
  /**
   * How many replies the agent may send in one conversation per minute: 1 to 60. Further replies
   * wait.
   * @default 10
   */
  readonly max_replies_per_minute?: number | undefined;
  /**
   * How many runs of the agent may be triggered per minute: 1 to 1,000. A further trigger fails
   * with `rate_limited`, which says when to try again.
   * @default 100
   */
  readonly max_triggers_per_minute?: number | undefined;
}

export const agentLimitsInputSchema = z
  .strictObject({
    max_ai_turns: whole(1, 1_000).meta({ default: defaultAgentLimits.max_ai_turns }),
    max_steps_per_turn: whole(1, 100).meta({ default: defaultAgentLimits.max_steps_per_turn }),
    max_tokens_per_conversation: whole(1, 100_000_000).meta({
      default: defaultAgentLimits.max_tokens_per_conversation,
    }),
    timeout_ms: whole(1, 120_000).meta({ default: defaultAgentLimits.timeout_ms }),
    max_replies_per_minute: whole(1, 60).meta({
      default: defaultAgentLimits.max_replies_per_minute,
    }),
    max_triggers_per_minute: whole(1, 1_000).meta({
      default: defaultAgentLimits.max_triggers_per_minute,
    }),
  })
  .partial()
  .meta({ interface: "AgentLimitsInput" });
