import type {
  AccountId,
  ContactId,
  ConversationId,
  MessageId,
  ObservationId,
} from "../kernel/ids.ts";
import { collection, json, nullable, real, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";
import type { Observation } from "./types.ts";

export interface ObservationRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly contact_id: ContactId;
  readonly id: ObservationId;
  readonly conversation_id: ConversationId | null;
  readonly content: string;
  readonly kind: string;
  readonly source: Observation["source"];
  readonly evidence_message_ids: readonly MessageId[];
  readonly confidence: number | null;
  readonly created_at: number;
  readonly expires_at: number | null;
}

export const observations = collection<ObservationRow>("observations", {
  account_id: text,
  mode: text,
  contact_id: text,
  id: text,
  conversation_id: nullable(text),
  content: text,
  kind: text,
  source: text,
  evidence_message_ids: json,
  confidence: nullable(real),
  created_at: time,
  expires_at: nullable(time),
});
export const observationById = observations.key("account_id", "mode", "contact_id", "id");
export const observationsByExpiry = observations.index("by_expires_at", ["expires_at"], {
  where: { column: "expires_at", present: true },
});
