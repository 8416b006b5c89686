import { z } from "zod";
import { defineEvent } from "../events/types.ts";
import { contactReferenceSchema } from "../contacts/types.ts";
import { sentimentSchema } from "../contacts/sentiment-types.ts";
import { ids } from "../kernel/fields.ts";

export const sentimentChanged = defineEvent(
  "sentiment.changed",
  z
    .strictObject({
      contact: contactReferenceSchema,
      from: sentimentSchema,
      to: sentimentSchema,
      message_id: ids.message,
    })
    .meta({ description: "A contact's sentiment shifted to another label." }),
);
