/** Runs: what an agent did for one turn or trigger, step by step. */
import * as z from "zod";
import {
  ids,
  timestamp,
  type AgentId,
  type ConversationId,
  type MessageId,
  type PlaybookId,
  type RunId,
} from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { json, whole } from "../fields.ts";
import { runStepSchema, type RunStep } from "./step-types.ts";

/**
 * - `running`: it is under way, or waits for its turn.
 * - `awaiting_approval`: a person must approve or deny an action first.
 * - `completed`: it did what it was to do.
 * - `handed_off`: it ended with a hand-off to people.
 * - `failed`: what was triggered could not be done, its reply was refused, or its turn failed
 *   repeatedly.
 * - `canceled`: it was no longer needed, for example because a person took over.
 */
export type RunStatus = (typeof runStatuses)[number];

const runStatuses = [
  "running",
  "awaiting_approval",
  "completed",
  "handed_off",
  "failed",
  "canceled",
] as const;

export const runStatusSchema = z.enum(runStatuses);

/** What started a run. */
export interface RunTrigger {
  /**
   * `inbound`: the contact wrote. `api`: a trigger through the API. `handback`: the agent got the
   * conversation back from people.
   */
  readonly type: "inbound" | "api" | "handback";
  /** The contact's messages that the run answers. Empty for `api`. */
  readonly message_ids: MessageId[];
}

export const runTriggerSchema = z
  .strictObject({
    type: z.enum(["inbound", "api", "handback"]),
    message_ids: z.array(ids.message),
  })
  .meta({ interface: "RunTrigger" });

/** How much a run used the model. */
export interface RunUsage {
  /** Tokens that the model read, as the model reports them. */
  readonly input_tokens: number;
  /** Tokens that the model wrote, as the model reports them. */
  readonly output_tokens: number;
  /** How often the model was called. */
  readonly model_calls: number;
}

export const runUsageSchema = z
  .strictObject({
    input_tokens: whole(0),
    output_tokens: whole(0),
    model_calls: whole(0),
  })
  .meta({ interface: "RunUsage" });

/** A call of an action that waits for a person's decision. */
export interface AwaitedCall {
  /** The id of the call. A decision names it, so that it is about this call and no other. */
  readonly call_id: string;
  /** The name of the action. */
  readonly action: string;
  /** The input that the action is called with if the call is approved. */
  readonly input: Json;
}

export const awaitedCallSchema = z
  .strictObject({
    call_id: z.string(),
    action: z.string(),
    input: json,
  })
  .meta({ id: "AwaitedCall" });

/** The record of one agent turn or trigger, with each step. */
export interface Run {
  /** The id of the run. */
  readonly id: RunId;
  /** The agent that worked. */
  readonly agent_id: AgentId;
  /** The version of the agent that the run uses. */
  readonly agent_version: number;
  /** The playbook that the run played, or was triggered to play. Null if there is none. */
  readonly playbook_id: PlaybookId | null;
  /** The conversation that the agent worked on. */
  readonly conversation_id: ConversationId | null;
  /** What started the run. */
  readonly trigger: RunTrigger;
  /** Where the run stands. */
  readonly status: RunStatus;
  /** The oldest call that waits for a decision. Null unless the run awaits an approval. */
  readonly approval: AwaitedCall | null;
  /**
   * The other calls that wait for a decision, oldest first. Empty unless the run awaits an
   * approval.
   */
  readonly later_approvals: AwaitedCall[];
  /**
   * What was done, in order. If there are more than 200 steps, the latest are left out, except
   * those of the type `approval`.
   */
  readonly steps: RunStep[];
  /** The messages that the run sent to the contact, oldest first. */
  readonly message_ids: MessageId[];
  /**
   * For a triggered action, its output. For a reply of the model, its `intent` and `confidence`.
   * For a hand-off, its `rule` and `reason`. An object with `error` if there was a problem.
   * Otherwise, and after a redaction, null.
   */
  readonly result: Json;
  /** How much the run used the model. */
  readonly usage: RunUsage;
  /** When the run was created. */
  readonly created_at: string;
  /** When the run ended. Null before that. */
  readonly finished_at: string | null;
}

export const runSchema = z
  .strictObject({
    id: ids.run,
    agent_id: ids.agent,
    agent_version: whole(1),
    playbook_id: ids.playbook.nullable(),
    conversation_id: ids.conversation.nullable(),
    trigger: runTriggerSchema,
    status: runStatusSchema,
    approval: awaitedCallSchema.nullable(),
    later_approvals: z.array(awaitedCallSchema),
    steps: z.array(runStepSchema),
    message_ids: z.array(ids.message),
    result: json,
    usage: runUsageSchema,
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: "Run" });

/** The request of an API trigger. */
export type RunRequest =
  | {
      readonly type: "playbook";
      readonly playbook_id: PlaybookId;
      readonly slots: { readonly [name: string]: Json };
    }
  | { readonly type: "action"; readonly action: string; readonly input: Json };

/**
 * A call of an action. It is committed as pending before it is made, so that after a crash it is
 * known that it may have been made. The id is its idempotency key.
 */
export interface ActionCall {
  readonly id: string;
  readonly action: string;
  readonly input: Json;
  readonly status: "pending" | "done" | "failed" | "awaiting_approval" | "approved" | "denied";
  readonly output: Json;
  readonly error: string | null;
  /** Present if the turn that needed the call has ended. Later turns make calls of their own. */
  readonly turn_ended?: true;
  /**
   * When the call is denied if nobody decides, in milliseconds since the epoch. Present once the
   * run has waited.
   */
  readonly approve_by?: number;
  /** Present if the words were removed. The call may still be under way. */
  readonly redacted?: true;
}
