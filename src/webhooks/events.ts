import { z } from "zod";
import { defineEvent } from "../events/index.ts";
import { ids } from "../kernel/index.ts";

export const webhookDisabled = defineEvent(
  "webhook.disabled",
  z.strictObject({
    webhook_id: ids.webhook,
    url: z.string(),
    reason: z.string(),
  }),
);
