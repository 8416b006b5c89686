import * as z from "zod";
import type { SettingChanges } from "../changes.ts";
import { whole } from "../fields.ts";

/** How much an agent may do. */
export interface AgentLimits {
  /**
   * How many replies the agent may send in one conversation: 1 to 1,000. The next time the contact
   * writes, the agent hands off. The count starts again after a hand-back.
   * @default 20
   */
  readonly max_ai_turns: number;
  /**
   * How many steps of a playbook, and how many answers of the model, one turn may take: 1 to 100. A
   * turn that needs more counts as `guardrail`.
   * @default 20
   */
  readonly max_steps_per_turn: number;
  /**
   * How many model tokens the agent may use in one conversation: 1 to 100,000,000. Then it hands
   * off.
   * @default 100000
   */
  readonly max_tokens_per_conversation: number;
  /**
   * How long a turn may take: 1 to 120,000 milliseconds. A later answer of the model is dropped.
   * @default 20000
   */
  readonly timeout_ms: number;
  /**
   * How many replies the agent may send in one conversation per minute: 1 to 60. Further replies
   * wait.
   * @default 10
   */
  readonly max_replies_per_minute: number;
  /**
   * How many runs of the agent may be triggered per minute: 1 to 1,000. A further trigger fails
   * with `rate_limited`, which says when to try again.
   * @default 100
   */
  readonly max_triggers_per_minute: number;
}

/** How much an agent may do. Absent fields keep their values or get their defaults. */
export type AgentLimitsInput = SettingChanges<AgentLimits>;

export const defaultAgentLimits: AgentLimits = {
  max_ai_turns: 20,
  max_steps_per_turn: 20,
  max_tokens_per_conversation: 100_000,
  timeout_ms: 20_000,
  max_replies_per_minute: 10,
  max_triggers_per_minute: 100,
};

const limit = (name: keyof AgentLimits, max: number) =>
  whole(1, max).meta({ default: defaultAgentLimits[name] });

const limits = z.strictObject({
  max_ai_turns: limit("max_ai_turns", 1_000),
  max_steps_per_turn: limit("max_steps_per_turn", 100),
  max_tokens_per_conversation: limit("max_tokens_per_conversation", 100_000_000),
  timeout_ms: limit("timeout_ms", 120_000),
  max_replies_per_minute: limit("max_replies_per_minute", 60),
  max_triggers_per_minute: limit("max_triggers_per_minute", 1_000),
});

export const agentLimitsSchema = limits.meta({ interface: "AgentLimits" });

export const agentLimitsInputSchema = limits.partial().meta({ interface: "AgentLimitsInput" });
