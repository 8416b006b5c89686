import * as z from "zod";
import {
  contactReferenceSchema,
  sentimentSchema,
  type ContactReference,
  type Sentiment,
} from "../contacts/index.ts";
import { defineEvent, type EventDefinition } from "../events/index.ts";
import { ids, type MessageId } from "../kernel/index.ts";

/** The data of `sentiment.changed`. */
export interface SentimentChangedData {
  /** The contact. */
  readonly contact: ContactReference;
  /** The sentiment before the message. */
  readonly from: Sentiment;
  /** The sentiment after the message. */
  readonly to: Sentiment;
  /** The message whose score changed the label. */
  readonly message_id: MessageId;
}

export const sentimentChangedDataSchema = z
  .strictObject({
    contact: contactReferenceSchema.describe("The contact."),
    from: sentimentSchema.describe("The sentiment before the message."),
    to: sentimentSchema.describe("The sentiment after the message."),
    message_id: ids.message.describe("The message whose score changed the label."),
  })
  .meta({ id: "SentimentChangedData", description: "The data of `sentiment.changed`." });

export const sentimentChanged: EventDefinition<"sentiment.changed", SentimentChangedData> =
  defineEvent(
    "sentiment.changed",
    "A contact's sentiment has another label.",
    sentimentChangedDataSchema,
  );
