import {
  contactReferenceSchema,
  sentimentSchema,
  type ContactReference,
  type Sentiment,
} from "../contacts/index.ts";
import { defineEvent } from "../events/index.ts";
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

export const sentimentChanged = defineEvent("sentiment.changed", {
  contact: contactReferenceSchema,
  from: sentimentSchema,
  to: sentimentSchema,
  message_id: ids.message,
});
