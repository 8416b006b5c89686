/** The sentiment of a contact, as the API shows it. */
import * as z from "zod";
import { ids, timestamp, type MessageId } from "../../kernel/index.ts";

/** The label of a sentiment. */
export type SentimentLabel = "positive" | "neutral" | "negative";

export const sentimentLabelSchema = z.enum(["positive", "neutral", "negative"]);

/** How positive or negative the contact's recent messages are. */
export interface Sentiment {
  /**
   * After at least two messages, `positive` from a score of 0.2 and `negative` from -0.2. It
   * returns to `neutral` at 0.
   */
  readonly label: SentimentLabel;
  /**
   * From -1 (negative) to 1 (positive): the mean of the messages' scores, in which recent messages
   * weigh more.
   */
  readonly score: number;
}

export const sentimentSchema = z
  .strictObject({
    label: sentimentLabelSchema,
    score: z.number().min(-1).max(1),
  })
  .meta({ id: "Sentiment" });

/** A message of the contact, with its sentiment score. */
export interface ScoredMessage {
  /** The contact's message. */
  readonly message_id: MessageId;
  /** The score of this message, from -1 (negative) to 1 (positive). */
  readonly score: number;
  /** When the message was created. */
  readonly created_at: string;
}

export const scoredMessageSchema = z
  .strictObject({
    message_id: ids.message,
    score: z.number().min(-1).max(1),
    created_at: timestamp,
  })
  .meta({ interface: "ScoredMessage" });

/** The current sentiment, its trend, and the messages that it is based on. */
export interface ContactSentiment {
  /** The contact's sentiment now. Null before the first score. */
  readonly current: Sentiment | null;
  /**
   * How the mean score of up to three latest messages compares with that of as many before them. A
   * difference below 0.2 is `steady`.
   */
  readonly trend: "rising" | "steady" | "falling";
  /** Up to 20 scored messages of the contact, newest first. */
  readonly messages: ScoredMessage[];
}

export const contactSentimentSchema = z
  .strictObject({
    current: sentimentSchema.nullable(),
    trend: z.enum(["rising", "steady", "falling"]),
    messages: z.array(scoredMessageSchema),
  })
  .meta({ id: "ContactSentiment" });
