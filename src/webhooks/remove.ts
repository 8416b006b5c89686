import { arm, disarm } from "../queue/index.ts";
import { webhooks } from "./rows.ts";
import { discardJob } from "./rules.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { webhookToChange } from "./find-to-change.ts";
import { writePatterns } from "./write-patterns.ts";

/** From this commit on nothing more is sent to it, but for a request that is under way. Its deliveries go afterwards, chunk by chunk. */
export const removeWebhook: Command<ById, void> = {
  kind: "command",
  name: "webhooks.remove",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }) {
    const webhook = await webhookToChange(tx, id);
    await writePatterns(tx, webhook, webhook.events, []);
    for (const kind of ["deliver", "recover"] as const) {
      await disarm(tx, { kind, key: { webhook_id: webhook.id } });
    }
    await arm(tx, discardJob(webhook, tx.now));
    tx.remove(webhooks, webhook);
  },
};
