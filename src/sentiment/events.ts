import { z } from "zod";
import {
  type ContactReference,
  contactReferenceSchema,
  type Sentiment,
  sentimentSchema,
} from "../contacts/index.ts";
import { defineEvent } from "../events/index.ts";
import { ids, type MessageId } from "../kernel/index.ts";

/** A contact's sentiment changed to another label. */
export interface SentimentChangedData {
  /** The contact whose sentiment changed. */
  readonly contact: ContactReference;
  /** The sentiment before the message. */
  readonly from: Sentiment;
  /** The sentiment after the message. Its label is another one. */
  readonly to: Sentiment;
  /** The contact's message that changed the sentiment. */
  readonly message_id: MessageId;
}

export const sentimentChangedDataSchema = z
  .strictObject({
    contact: contactReferenceSchema.describe("The contact whose sentiment changed."),
    from: sentimentSchema.describe("The sentiment before the message."),
    to: sentimentSchema.describe("The sentiment after the message. Its label is another one."),
    message_id: ids.message.describe("The contact's message that changed the sentiment."),
  })
  .describe("A contact's sentiment changed to another label.");

export const sentimentChanged = defineEvent("sentiment.changed", sentimentChangedDataSchema);
