import { defaultGraceSeconds } from "../accounts/index.ts";
import { webhookResource } from "./resource.ts";
import { webhooks } from "./rows.ts";
import { secretBytes } from "./rules.ts";
import { secretText } from "./signature.ts";
import {
  type CreatedWebhook,
  type RotateWebhookSecret,
  rotateWebhookSecretSchema,
} from "./types.ts";
import type { Command } from "../operations/index.ts";
import { webhookToChange } from "./find-to-change.ts";

/** Gives a webhook a new secret. The old one signs too for the grace time; the one before that ends now. */
export const rotateWebhookSecret: Command<RotateWebhookSecret, CreatedWebhook> = {
  kind: "command",
  name: "webhooks.rotateSecret",
  input: () => rotateWebhookSecretSchema,
  status: 200,
  async run(tx, { id, grace_seconds = defaultGraceSeconds }, { services }) {
    const webhook = await webhookToChange(tx, id);
    const rotated = tx.update(webhooks, webhook, {
      secret: secretText(services.random.bytes(secretBytes)),
      previous_secret: grace_seconds === 0 ? null : webhook.secret,
      previous_expires_at: grace_seconds === 0 ? null : tx.now + grace_seconds * 1_000,
      updated_at: tx.now,
    });
    return { ...webhookResource(rotated), secret: rotated.secret };
  },
  onReplay: (webhook) => ({ ...webhook, secret: null }),
};
