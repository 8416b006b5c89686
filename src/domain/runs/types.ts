/** What an agent did for one turn or trigger, step by step. */
import { z } from "zod";
import { ids, timestamp } from "../../fields.ts";

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
    input: z.json(),
    output: z.json(),
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
    result: z.json(),
    usage: z.strictObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0), model_calls: z.int().min(0) }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: "Run" });
export interface Run extends z.infer<typeof runSchema> {}
