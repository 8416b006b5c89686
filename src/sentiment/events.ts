import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { contactReferenceSchema, sentimentSchema } from "../contacts/index.ts";
import { ids } from "../kernel/index.ts";

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
