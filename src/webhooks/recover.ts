import { arm } from "../queue/index.ts";
import { firstIdAt, millis } from "../kernel/index.ts";
import { webhookResource } from "./resource.ts";
import { webhooks } from "./rows.ts";
import { recoverJob } from "./rules.ts";
import { type RecoverWebhook, recoverWebhookSchema, type Webhook } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { webhookToChange } from "./find-to-change.ts";

/**
 * Sends once more what failed and was made since a time. There may be a lot of it, so a job goes through it; asked for meanwhile, that
 * goes through the longer of the two stretches, and through what both have once.
 */
export const recoverWebhook: Command<RecoverWebhook, Webhook> = {
  kind: "command",
  name: "webhooks.recover",
  input: () => recoverWebhookSchema,
  status: 202,
  async run(tx, { id, since }) {
    const webhook = await webhookToChange(tx, id);
    const asked = firstIdAt("dlv", millis(since));
    const { recover_after: left } = webhook;
    const recovering = tx.update(webhooks, webhook, {
      recover_after: left === null || asked < left ? asked : left,
    });
    await arm(tx, recoverJob(recovering, tx.now));
    return webhookResource(recovering);
  },
};
