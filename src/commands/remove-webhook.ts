import { arm, disarm } from "../domain/jobs/rows.ts";
import { webhooks } from "../domain/webhooks/rows.ts";
import { discardJob } from "../domain/webhooks/rules.ts";
import { type ById, byIdSchema } from "../fields.ts";
import type { Command } from "../operation.ts";
import { webhookToChange } from "./steps/webhook-to-change.ts";
import { writePatterns } from "./steps/write-patterns.ts";

/** From this commit on nothing more is sent to it, but for a request that is under way. Its deliveries go afterwards, chunk by chunk. */
export const removeWebhook: Command<ById, void> = {
  kind: "command",
  name: "webhooks.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }, { scope }) {
    const webhook = await webhookToChange(tx, scope, id);
    await writePatterns(tx, webhook, webhook.events, []);
    for (const kind of ["deliver", "recover"] as const) await disarm(tx, { kind, key: webhook.id });
    await arm(tx, discardJob(webhook, tx.now));
    tx.remove(webhooks, webhook);
  },
};
