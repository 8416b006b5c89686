/** Observations: facts noticed about a contact, with their source and evidence. */
import { z } from "zod";
import { ids, instant, name, pageFields, reference, timestamp } from "../kernel/index.ts";

export const observationSchema = z
  .strictObject({
    id: ids.observation,
    contact_id: ids.contact,
    conversation_id: ids.conversation.nullable(),
    content: z.string(),
    kind: z.string(),
    source: z.enum(["rule", "model", "human", "api"]),
    evidence_message_ids: z.array(ids.message),
    confidence: z.number().min(0).max(1).nullable(),
    created_at: timestamp,
    expires_at: timestamp.nullable(),
  })
  .meta({ id: "Observation" });
export interface Observation extends z.infer<typeof observationSchema> {}

export const addObservationSchema = z
  .strictObject({
    id: reference,
    content: name(2_000),
    kind: name(64).meta({
      description: "The kind of observation. You choose the names.",
      examples: ["preference"],
    }),
    source: z
      .enum(["human", "api"])
      .optional()
      .meta({ default: "api", description: "`human` if a person made the observation." }),
    conversation_id: reference.optional(),
    evidence_message_ids: z
      .array(reference)
      .max(50, { error: "must contain at most 50 messages" })
      .optional()
      .describe("The contact's messages that support the observation."),
    confidence: z.number().min(0).max(1).optional(),
    expires_at: instant
      .optional()
      .describe("When the observation expires. It is no longer listed then."),
  })
  .meta({ id: "AddObservation" });
export interface AddObservation extends z.infer<typeof addObservationSchema> {}

export const listObservationsSchema = z.strictObject({ id: reference, ...pageFields });
export interface ListObservations extends z.infer<typeof listObservationsSchema> {}

export const removeObservationSchema = z.strictObject({ id: reference, observation_id: reference });
export interface RemoveObservation extends z.infer<typeof removeObservationSchema> {}
