import { webhookResource } from "./resource.ts";
import { webhookBySlot, webhooks } from "./rows.ts";
import { mostWebhooks, secretBytes } from "./rules.ts";
import { secretText } from "./signature.ts";
import { type CreatedWebhook, type CreateWebhook, createWebhookSchema } from "./types.ts";
import type { Command } from "../operations/index.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { freeSlot } from "../senders/index.ts";
import { writePatterns } from "./write-patterns.ts";

/** Has an endpoint told of events from this commit on. */
export const createWebhook: Command<CreateWebhook, CreatedWebhook> = {
  kind: "command",
  name: "webhooks.create",
  input: () => createWebhookSchema,
  status: 201,
  async run(tx, { url, events, headers = {}, ordering = "none", description = null }, call) {
    const { services } = call;
    const webhook = tx.insert(webhooks, {
      id: services.drawId("wh"),
      slot: await freeSlot(tx, webhookBySlot, mostWebhooks),
      url: endpointUrl(url, call),
      events,
      headers,
      ordering,
      description,
      status: "enabled",
      disabled_reason: null,
      secret: secretText(services.random.bytes(secretBytes)),
      previous_secret: null,
      previous_expires_at: null,
      proven: false,
      streak: null,
      paused_until: null,
      recover_after: null,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await writePatterns(tx, webhook, [], events);
    return { ...webhookResource(webhook), secret: webhook.secret };
  },
  onReplay: (webhook) => ({ ...webhook, secret: null }),
};
