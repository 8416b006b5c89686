import * as z from "zod";
import { name, readonlyList, type Limits } from "../../kernel/index.ts";
import { whole } from "../fields.ts";
import {
  handoffRuleInputSchema,
  handoffRuleSchema,
  type HandoffRule,
  type HandoffRuleInput,
} from "./handoff-rule-types.ts";

/** When an agent hands its conversations off to people, and what follows. */
export interface AgentHandoff {
  /** The rules. If one applies, the agent hands off. */
  readonly rules: HandoffRule[];
  /** The text that the contact gets at a hand-off. If absent, the contact gets none. */
  readonly message?: string | undefined;
  /**
   * How long a conversation waits in the queue before `on_no_humans` applies, in seconds. If
   * absent, it waits without limit.
   */
  readonly queue_timeout_seconds?: number | undefined;
  /**
   * What happens when nobody takes the conversation in time. `leave_message`: the contact gets the
   * fallback text, and the conversation stays in the queue. `stay_ai`: the agent takes the
   * conversation back.
   */
  readonly on_no_humans: "stay_ai" | "leave_message";
  /**
   * Whether the agent answers again when the contact writes after people have closed the
   * conversation.
   */
  readonly resume_after_human: boolean;
}

export const agentHandoffSchema = z
  .strictObject({
    rules: z.array(handoffRuleSchema),
    message: z.string().optional(),
    queue_timeout_seconds: whole(1).optional(),
    on_no_humans: z.enum(["stay_ai", "leave_message"]),
    resume_after_human: z.boolean(),
  })
  .meta({ interface: "AgentHandoff" });

export const defaultHandoff: AgentHandoff = {
  rules: [{ on: "customer_request" }],
  message: "Thank you. A colleague will get back to you.",
  on_no_humans: "leave_message",
  resume_after_human: true,
};

/**
 * When an agent hands its conversations off to people, and what follows. Absent fields keep their
 * values or get their defaults.
 */
export interface AgentHandoffInput {
  /**
   * Up to 50 rules. If one applies, the agent hands off.
   * @default [{"on":"customer_request"}]
   */
  readonly rules?: readonly HandoffRuleInput[] | undefined;
  /**
   * The text that the contact gets at a hand-off. Null sends nothing.
   * @default "Thank you. A colleague will get back to you."
   */
  readonly message?: string | null | undefined;
  /**
   * How long a conversation waits in the queue before `on_no_humans` applies: 1 to 604,800 seconds
   * (a week). Null means without limit.
   */
  readonly queue_timeout_seconds?: number | null | undefined;
  /**
   * What happens when nobody takes the conversation in time. `leave_message`: the contact gets the
   * fallback text, and the conversation stays in the queue. `stay_ai`: the agent takes the
   * conversation back.
   * @default "leave_message"
   */
  readonly on_no_humans?: "stay_ai" | "leave_message" | undefined;
  /**
   * Whether the agent answers again when the contact writes after people have closed the
   * conversation.
   * @default true
   */
  readonly resume_after_human?: boolean | undefined;
}

export const agentHandoffInputSchema = ({ messageCharacters }: Limits) =>
  z
    .strictObject({
      rules: readonlyList(z.array(handoffRuleInputSchema).max(50)).meta({
        default: defaultHandoff.rules,
      }),
      message: name(messageCharacters).nullable().meta({ default: defaultHandoff.message }),
      queue_timeout_seconds: whole(1, 604_800).nullable(),
      on_no_humans: z
        .enum(["stay_ai", "leave_message"])
        .meta({ default: defaultHandoff.on_no_humans }),
      resume_after_human: z.boolean().meta({ default: defaultHandoff.resume_after_human }),
    })
    .partial()
    .meta({ interface: "AgentHandoffInput" });
