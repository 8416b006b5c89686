/** What was noticed about a contact, by whom, and on what grounds. */
import { z } from "zod";
import { ids, timestamp } from "../../fields.ts";

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
