/** What was noticed about a contact, by whom, and on what grounds. */
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
      description: "What sort of thing it is, in your own terms.",
      examples: ["preference"],
    }),
    source: z
      .enum(["human", "api"])
      .optional()
      .meta({ default: "api", description: "`human`: one of the host's people noticed it." }),
    conversation_id: reference.optional(),
    evidence_message_ids: z
      .array(reference)
      .max(50, { error: "must have at most 50 messages" })
      .optional()
      .meta({ description: "Messages of the contact that it rests on." }),
    confidence: z.number().min(0).max(1).optional(),
    expires_at: instant.optional().meta({ description: "Not shown any more from then on." }),
  })
  .meta({ id: "AddObservation" });
export interface AddObservation extends z.infer<typeof addObservationSchema> {}

export const listObservationsSchema = z.strictObject({ id: reference, ...pageFields });
export interface ListObservations extends z.infer<typeof listObservationsSchema> {}

export const removeObservationSchema = z.strictObject({ id: reference, observation_id: reference });
export interface RemoveObservation extends z.infer<typeof removeObservationSchema> {}
