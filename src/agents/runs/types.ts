/** What an agent did for one turn or trigger, step by step. */
import { z } from "zod";
import { ids, type PlaybookId, timestamp } from "../../kernel/index.ts";
import type { Json, ModelAnswer, ModelCall, ModelTask } from "../../ports/index.ts";

/** What host and model say may be anything. */
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

/** What an API trigger asks for. */
export type RunRequest =
  | {
      readonly type: "playbook";
      readonly playbook_id: PlaybookId;
      readonly slots: { readonly [name: string]: Json };
    }
  | { readonly type: "action"; readonly action: string; readonly input: Json };

/**
 * A call of an action. It is committed as pending before it is made, so that a crash leaves what may have been done visible. The id is its
 * idempotency key.
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
 * What a turn is made of. A turn is a generator: it says what is to be done next, is given what came of it, and returns how it ends. It does
 * nothing by itself, so after a crash it is run again and given what the run has kept.
 */
export type Move =
  /** A model may call what its agent lists; playbooks and triggers are the host's own and may call what there is. */
  | {
      readonly do: "act";
      readonly action: string;
      readonly input: Json;
      readonly by: "model" | "host";
    }
  /** `acts`: the calls that the model asks for are made; else it is shown no actions. Free: it may start a playbook. */
  | {
      readonly do: "think";
      readonly task: ModelTask;
      readonly acts: boolean;
      readonly isFree: boolean;
    };

export type ModelFailure = "model_error" | "model_timeout" | "budget" | "guardrail";

/** What a model came to. Without an answer, why there is none; `guardrail`: its text was held back. */
export interface Thought {
  readonly done: "thought";
  readonly answer: ModelAnswer | null;
  readonly failure: ModelFailure | null;
}

export type Given = { readonly done: "acted"; readonly outcome: ModelCall["outcome"] } | Thought;

export type Moves<T> = Generator<Move, T, Given>;
