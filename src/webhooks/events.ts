import { z } from "zod";
import { defineEvent } from "../events/types.ts";
import { ids } from "../kernel/fields.ts";

export const webhookDisabled = defineEvent(
  "webhook.disabled",
  z.strictObject({
    webhook_id: ids.webhook,
    url: z.string(),
    reason: z.string(),
  }),
);
