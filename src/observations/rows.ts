import type { ContactId, ConversationId, MessageId, ObservationId } from "../kernel/index.ts";
import { json, nullable, real, scoped, text, time, type RowOf } from "../ports/index.ts";
import type { Observation } from "./types.ts";

export const observations = scoped("observations", {
  contact_id: text<ContactId>(),
  id: text<ObservationId>(),
  conversation_id: nullable(text<ConversationId>()),
  content: text(),
  kind: text(),
  source: text<Observation["source"]>(),
  evidence_message_ids: json<readonly MessageId[]>(),
  confidence: nullable(real()),
  created_at: time(),
  expires_at: nullable(time()),
});
export interface ObservationRow extends RowOf<typeof observations> {}

export const observationById = observations.key("contact_id", "id");
export const observationsByExpiry = observations.acrossScopes.index(
  "by_expires_at",
  ["expires_at"],
  {
    where: { column: "expires_at", present: true },
  },
);
