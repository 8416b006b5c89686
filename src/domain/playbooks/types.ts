/** Scripts that an agent follows: what starts them, what they ask, what they do. */
import { z } from "zod";
import { ids, timestamp } from "../../fields.ts";
import type { PlaybookId } from "../../ids.ts";
import type { Json } from "../../ports/agent-model.ts";

export const slotSchema = z
  .strictObject({
    name: z.string(),
    type: z.enum(["text", "number", "boolean", "date", "phone", "email"]),
    pattern: z.string().optional(),
    enum: z.array(z.string()).optional(),
    required: z.boolean(),
    prompt: z.string(),
  })
  .meta({ id: "Slot" });
export interface Slot extends z.infer<typeof slotSchema> {}

const place = { id: z.string(), next: z.string().optional() };

/** A step is one of these; `next` names the step that follows, by default the one below. */
export const playbookStepSchema = z
  .discriminatedUnion("type", [
    z.strictObject({ ...place, type: z.literal("send"), text: z.string() }),
    z.strictObject({
      ...place,
      type: z.literal("ask"),
      slot: z.string(),
      retries: z.int().min(0),
      on_fail: z.string().optional(),
    }),
    z.strictObject({ ...place, type: z.literal("set"), values: z.record(z.string(), z.json()) }),
    z.strictObject({
      ...place,
      type: z.literal("run"),
      action: z.string(),
      args: z.record(z.string(), z.json()),
      on_error: z.string().optional(),
    }),
    z.strictObject({
      ...place,
      type: z.literal("branch"),
      cases: z.array(z.strictObject({ when: z.string(), next: z.string() })),
    }),
    z.strictObject({ ...place, type: z.literal("instruct"), text: z.string() }),
    z.strictObject({ ...place, type: z.literal("call"), playbook_id: ids.playbook }),
    z.strictObject({ ...place, type: z.literal("handoff"), reason: z.string() }),
    z.strictObject({ ...place, type: z.literal("resolve") }),
  ])
  .meta({ id: "PlaybookStep" });
export type PlaybookStep = z.infer<typeof playbookStepSchema>;

export const playbookSchema = z
  .strictObject({
    id: ids.playbook,
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    trigger: z.strictObject({
      keywords: z.array(z.string()).optional(),
      intents: z.array(z.string()).optional(),
      when: z.string().optional(),
      priority: z.int(),
    }),
    slots: z.array(slotSchema),
    steps: z.array(playbookStepSchema),
    on_cancel: z.string().optional(),
    max_turns: z.int().min(1).optional(),
    version: z.int().min(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Playbook" });
export interface Playbook extends z.infer<typeof playbookSchema> {}

/** What of a playbook has versions: all that is given, but whether it is enabled. */
export type PlaybookDefinition = Omit<Playbook, "id" | "enabled" | "version" | "created_at" | "updated_at">;

/** Where a conversation stands in a playbook. One that was called by another lies on top of it. */
export interface Frame {
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The step that is next, or that waits: for the contact's answer, or for somebody's approval. */
  readonly step: string;
  /** Whether the step has asked already. */
  readonly asked: boolean;
  /** Answers to it that were of no use. */
  readonly tries: number;
  /** What the contact wrote since it began. */
  readonly turns: number;
  readonly slots: { readonly [name: string]: Json };
}
