import * as z from "zod";
import { name, readonlyList, type Limits } from "../../kernel/index.ts";
import type { SettingChanges } from "../changes.ts";
import { whole } from "../fields.ts";
import {
  handoffRuleInputSchema,
  handoffRuleSchema,
  type HandoffRule,
} from "./handoff-rule-types.ts";

/** When an agent hands its conversations off to people, and what follows. */
export interface AgentHandoff {
  /**
   * Up to 50 rules. If one applies, the agent hands off.
   * @default [{"on":"customer_request"}]
   */
  readonly rules: HandoffRule[];
  /**
   * The text that the contact gets at a hand-off. Without it, the contact gets none.
   * @default "Thank you. A colleague will get back to you."
   */
  readonly message?: string | undefined;
  /**
   * How long a conversation waits in the queue before `on_no_humans` applies: 1 to 604,800 seconds
   * (a week). Without it, there is no limit.
   */
  readonly queue_timeout_seconds?: number | undefined;
  /**
   * What happens when nobody takes the conversation in time. `leave_message`: the contact gets the
   * fallback text, and the conversation stays in the queue. `stay_ai`: the agent takes the
   * conversation back.
   * @default "leave_message"
   */
  readonly on_no_humans: "stay_ai" | "leave_message";
  /**
   * Whether the agent answers again when the contact writes after people have closed the
   * conversation.
   * @default true
   */
  readonly resume_after_human: boolean;
}

/**
 * When an agent hands its conversations off to people, and what follows. Absent fields keep their
 * values or get their defaults. Null removes the message or the limit.
 */
export type AgentHandoffInput = SettingChanges<AgentHandoff>;

export const defaultHandoff: AgentHandoff = {
  rules: [{ on: "customer_request" }],
  message: "Thank you. A colleague will get back to you.",
  on_no_humans: "leave_message",
  resume_after_human: true,
};

const seconds = whole(1, 604_800);
const choices = {
  on_no_humans: z.enum(["stay_ai", "leave_message"]).meta({ default: defaultHandoff.on_no_humans }),
  resume_after_human: z.boolean().meta({ default: defaultHandoff.resume_after_human }),
};

export const agentHandoffSchema = z
  .strictObject({
    rules: z.array(handoffRuleSchema).meta({ default: defaultHandoff.rules }),
    message: z.string().optional().meta({ default: defaultHandoff.message }),
    queue_timeout_seconds: seconds.optional(),
    ...choices,
  })
  .meta({ interface: "AgentHandoff" });

export const agentHandoffInputSchema = ({ messageCharacters }: Limits) =>
  z
    .strictObject({
      rules: readonlyList(z.array(handoffRuleInputSchema).max(50)).meta({
        default: defaultHandoff.rules,
      }),
      message: name(messageCharacters).nullable().meta({ default: defaultHandoff.message }),
      queue_timeout_seconds: seconds.nullable(),
      ...choices,
    })
    .partial()
    .meta({ interface: "AgentHandoffInput" });
