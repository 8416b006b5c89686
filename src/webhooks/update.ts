import { arm } from "../queue/index.ts";
import { webhookResource } from "./resource.ts";
import { type WebhookRow, webhooks } from "./rows.ts";
import { deliverJob } from "./rules.ts";
import { type UpdateWebhook, updateWebhookSchema, type Webhook } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { webhookToChange } from "./find-to-change.ts";
import { writePatterns } from "./write-patterns.ts";

/**
 * Changes an endpoint. What it was told of before stays to be delivered, to the new URL; a new filter is for events from now on. One that
 * comes back begins anew: with what was kept for it, slowly until it has shown that it answers.
 */
export const updateWebhook: Command<UpdateWebhook, Webhook> = {
  kind: "command",
  name: "webhooks.update",
  input: () => updateWebhookSchema,
  status: 200,
  async run(tx, { id, url, status, events, headers, ordering, description }, call) {
    const before = await webhookToChange(tx, id);
    const after = tx.update(webhooks, before, {
      ...(url === undefined ? {} : { url: endpointUrl(url, call) }),
      ...(events === undefined ? {} : { events }),
      ...(headers === undefined ? {} : { headers }),
      ...(ordering === undefined ? {} : { ordering }),
      ...(description === undefined ? {} : { description }),
      ...(status === undefined || status === before.status ? {} : turned(status)),
      updated_at: tx.now,
    });
    await writePatterns(tx, after, before.events, after.events);
    // Enabled, it gets what was kept; paused, what was asked for by hand waits for nothing more. In another order another one may be due.
    if (after.status !== before.status || after.ordering !== before.ordering) {
      await arm(tx, deliverJob(after, tx.now));
    }
    return webhookResource(after);
  },
};

function turned(status: "enabled" | "paused"): Partial<WebhookRow> {
  if (status === "paused") return { status, disabled_reason: null };
  return { status, disabled_reason: null, proven: false, streak: null, paused_until: null };
}
