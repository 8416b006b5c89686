/** Runs: what an agent did for one turn or trigger, step by step. */
import { z } from "zod";
import { ids, type PlaybookId, timestamp } from "../../kernel/index.ts";
import type { Json, ModelAnswer, ModelCall, ModelTask } from "../../ports/index.ts";

/** Values from the host application and the model can be any JSON. */
const json: z.ZodType<Json> = z.json();

export const runStatusSchema = z.enum([
  "running",
  "awaiting_approval",
  "completed",
  "handed_off",
  "failed",
  "canceled",
]);
export type RunStatus = z.infer<typeof runStatusSchema>;

export const runStepSchema = z
  .strictObject({
    type: z.string(),
    name: z.string().nullable(),
    input: json,
    output: json,
    error: z.string().nullable(),
    started_at: timestamp,
    duration_ms: z.int().min(0),
  })
  .meta({ id: "RunStep" });
export interface RunStep extends z.infer<typeof runStepSchema> {}

export const runSchema = z
  .strictObject({
    id: ids.run,
    agent_id: ids.agent,
    agent_version: z.int().min(1),
    playbook_id: ids.playbook.nullable(),
    conversation_id: ids.conversation.nullable(),
    trigger: z.strictObject({
      type: z.enum(["inbound", "api", "handback"]),
      message_ids: z.array(ids.message),
    }),
    status: runStatusSchema,
    steps: z.array(runStepSchema),
    result: json,
    usage: z.strictObject({
      input_tokens: z.int().min(0),
      output_tokens: z.int().min(0),
      model_calls: z.int().min(0),
    }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: "Run" });
export interface Run extends z.infer<typeof runSchema> {}

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
}

/**
 * A move of a turn. A turn is a generator: it yields the next move, receives the result, and
 * returns the ending. It has no side effects, so after a crash it runs again with the results that
 * the run has recorded.
 */
export type Move =
  /**
   * A model may only call the actions that its agent lists. Playbooks and triggers come from the
   * host application and may call any action.
   */
  | {
      readonly do: "act";
      readonly action: string;
      readonly input: Json;
      readonly by: "model" | "host";
    }
  /**
   * `acts`: whether the model sees actions and its calls are made. `isFree`: whether it may start a
   * playbook.
   */
  | {
      readonly do: "think";
      readonly task: ModelTask;
      readonly acts: boolean;
      readonly isFree: boolean;
    };

export type ModelFailure = "model_error" | "model_timeout" | "budget" | "guardrail";

/**
 * The result of asking a model. `failure` says why there is no answer. With `guardrail`, only its
 * text was removed.
 */
export interface ModelResult {
  readonly done: "thought";
  readonly answer: ModelAnswer | null;
  readonly failure: ModelFailure | null;
}

export type MoveResult =
  { readonly done: "acted"; readonly outcome: ModelCall["outcome"] } | ModelResult;

export type TurnMoves<T> = Generator<Move, T, MoveResult>;
