/** How a contact feels, from the contact's own words. */
import { z } from "zod";
import { ids, timestamp } from "../kernel/index.ts";

export const sentimentLabelSchema = z.enum(["positive", "neutral", "negative"]);
export type SentimentLabel = z.infer<typeof sentimentLabelSchema>;

export const sentimentSchema = z
  .strictObject({ label: sentimentLabelSchema, score: z.number().min(-1).max(1) })
  .meta({ id: "Sentiment" });
export interface Sentiment extends z.infer<typeof sentimentSchema> {}

export const contactSentimentSchema = z
  .strictObject({
    current: sentimentSchema.nullable().meta({ description: "Null before the first score." }),
    trend: z.enum(["rising", "steady", "falling"]),
    messages: z.array(
      z.strictObject({
        message_id: ids.message,
        score: z.number().min(-1).max(1),
        created_at: timestamp,
      }),
    ),
  })
  .meta({
    id: "ContactSentiment",
    description: "Current mood, its trend, and the messages that moved it.",
  });
export interface ContactSentiment extends z.infer<typeof contactSentimentSchema> {}

/** What scores of a contact's messages come to, one after the other. */
export interface Mood {
  readonly label: SentimentLabel;
  /** The exponentially weighted mean, before it is corrected for having begun at zero. */
  readonly mean: number;
  readonly messages: number;
}
