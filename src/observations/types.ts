/** Observations: facts noticed about a contact, with their source and evidence. */
import * as z from "zod";
import {
  ids,
  instant,
  name,
  pageFields,
  readonlyList,
  reference,
  timestamp,
  type ContactId,
  type ConversationId,
  type MessageId,
  type ObservationId,
  type PageQuery,
} from "../kernel/index.ts";

/** A fact about a contact that an agent, a rule, a person or the API recorded. */
export interface Observation {
  /** The id of the observation. */
  readonly id: ObservationId;
  /** The contact that the observation is about. */
  readonly contact_id: ContactId;
  /** The conversation that the observation was made in. Null if it was made in none. */
  readonly conversation_id: ConversationId | null;
  /** The fact, in words. */
  readonly content: string;
  /** The kind of observation, such as `preference`. The host application chooses the names. */
  readonly kind: string;
  /** Who made the observation: a `rule`, a language `model`, a person (`human`) or the `api`. */
  readonly source: "rule" | "model" | "human" | "api";
  /** The contact's messages that support the observation. */
  readonly evidence_message_ids: MessageId[];
  /** How certain the observation is, from 0 to 1. Null if that is not known. */
  readonly confidence: number | null;
  /** When the observation was recorded. */
  readonly created_at: string;
  /** When the observation expires. It is no longer listed then. Null if it does not expire. */
  readonly expires_at: string | null;
}

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

/** A fact to record about a contact. */
export interface AddObservation {
  /** The fact, in words: at most 2,000 characters. */
  readonly content: string;
  /** The kind of observation, at most 64 characters. The host application chooses the names. */
  readonly kind: string;
  /**
   * `human` if a person made the observation.
   * @default "api"
   */
  readonly source?: "human" | "api" | undefined;
  /** The contact's conversation that the observation was made in. */
  readonly conversation_id?: string | undefined;
  /** The contact's messages that support the observation, at most 50. */
  readonly evidence_message_ids?: readonly string[] | undefined;
  /** How certain the observation is, from 0 to 1. */
  readonly confidence?: number | undefined;
  /** When the observation expires. It is no longer listed then. Must be in the future. */
  readonly expires_at?: string | undefined;
}

export const addObservationSchema = z
  .strictObject({
    content: name(2_000),
    kind: name(64).meta({ examples: ["preference"] }),
    source: z.enum(["human", "api"]).optional().meta({ default: "api" }),
    conversation_id: reference.optional(),
    evidence_message_ids: readonlyList(
      z.array(reference).max(50, { error: "must contain at most 50 messages" }),
    ).optional(),
    confidence: z.number().min(0).max(1).optional(),
    expires_at: instant.optional(),
  })
  .meta({ id: "AddObservation" });

/** A page of a contact's observations. */
export interface ListObservations extends PageQuery {
  /** The id of the contact. */
  readonly id: string;
}

export const listObservationsSchema = z
  .strictObject({ id: reference, ...pageFields })
  .meta({ interface: "ListObservations" });

/** The observation to remove. */
export interface RemoveObservation {
  /** The id of the contact. */
  readonly id: string;
  /** The id of the observation. */
  readonly observation_id: string;
}

export const removeObservationSchema = z
  .strictObject({ id: reference, observation_id: reference })
  .meta({ interface: "RemoveObservation" });
