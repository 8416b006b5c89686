import { defaultGraceSeconds } from "../accounts/index.ts";
import {
  byIdSchema,
  definedFields,
  invalid,
  notFound,
  TidingsError,
  withId,
  type ById,
} from "../kernel/index.ts";
import { freeOrdinal, showsNothing, type Call, type Command } from "../operations/index.ts";
import { checkUrl, type Seen } from "../ports/index.ts";
import { arm, disarm } from "../queue/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";
import { withoutCovered } from "./event-patterns.ts";
import {
  createWebhookSchema,
  rotateWebhookSecretSchema,
  updateWebhookSchema,
  type CreateWebhook,
  type RotateWebhookSecret,
  type UpdateWebhook,
} from "./input-types.ts";
import { deliverJob, discardJob } from "./job-orders.ts";
import {
  deliveries,
  deliveriesInOrder,
  maxWebhooks,
  webhookById,
  webhookByOrdinal,
  webhookPatternByName,
  webhookPatterns,
  webhooks,
  type WebhookRow,
} from "./rows.ts";
import { secretText } from "./sending/signature.ts";
import { webhookResource } from "./show.ts";
import type { Webhook, WebhookWithSecret } from "./types.ts";

/** The number of random bytes in a secret. */
const secretBytes = 32;

/** Creates a webhook. It receives the events of transactions that begin after this commit. */
export const createWebhook: Command<CreateWebhook, WebhookWithSecret> = {
  kind: "command",
  name: "webhooks.create",
  input: () => createWebhookSchema,
  status: 201,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { url, events, headers = {}, ordering = "none", description = null }, call) {
    const { services } = call;
    const webhook = tx.insert(webhooks, {
      id: tx.drawId("wh"),
      ordinal: await freeOrdinal(tx, webhookByOrdinal, maxWebhooks),
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
      recover_since: null,
      created_at: tx.now,
      updated_at: tx.now,
    });
    await writePatterns(tx, webhook, [], events);
    return { ...webhookResource(webhook), secret: webhook.secret };
  },
  onReplay: (webhook) => ({ ...webhook, secret: null }),
};

/**
 * Changes a webhook. Pending deliveries are kept and go to the new URL. A new filter applies to
 * later events. A webhook that is enabled again or gets a new URL starts with one request at a time
 * until an attempt succeeds. What its endpoint returned before no longer counts. With `fifo`
 * ordering, a new URL gets the first pending delivery at once, because all others wait for it, or
 * as soon as an attempt at the old URL that is under way has failed.
 */
export const updateWebhook: Command<UpdateWebhook & ById, Webhook> = {
  kind: "command",
  name: "webhooks.update",
  input: () => withId(updateWebhookSchema, "The id of the webhook."),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, url, status, ...change }, call) {
    const before = await requireWebhook(tx, id);
    const newUrl = url === undefined ? before.url : endpointUrl(url, call);
    const isNewStatus = status !== undefined && status !== before.status;
    const isNewStart = newUrl !== before.url || (isNewStatus && status === "enabled");
    const after = tx.update(webhooks, before, {
      url: newUrl,
      ...definedFields(change),
      ...(isNewStatus ? { status, disabled_reason: null } : {}),
      ...(isNewStart ? { proven: false, streak: null, paused_until: null } : {}),
      updated_at: tx.now,
    });
    await writePatterns(tx, after, before.events, after.events);
    if (newUrl !== before.url && after.ordering === "fifo") await endWaitOfFirst(tx, after);
    // A new start releases the deliveries that were kept. Pausing and a change of ordering end the
    // wait of manual attempts for automatic ones, so a delivery may be due earlier.
    if (isNewStart || isNewStatus || after.ordering !== before.ordering) {
      await arm(tx, deliverJob(after, tx.now));
    }
    return webhookResource(after);
  },
};

/**
 * Gives a webhook a new secret. The replaced secret also signs until the grace period ends. The one
 * before it stops signing at once.
 */
export const rotateWebhookSecret: Command<RotateWebhookSecret & ById, WebhookWithSecret> = {
  kind: "command",
  name: "webhooks.rotateSecret",
  input: () => withId(rotateWebhookSecretSchema, "The id of the webhook."),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, grace_seconds = defaultGraceSeconds }, { services }) {
    const webhook = await requireWebhook(tx, id);
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

/**
 * Removes a webhook. After this commit no request starts, but one that is under way still ends. A
 * job removes its deliveries in chunks.
 */
export const removeWebhook: Command<ById, void> = {
  kind: "command",
  name: "webhooks.remove",
  input: () => byIdSchema,
  status: 204,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id }) {
    const webhook = await requireWebhook(tx, id);
    await writePatterns(tx, webhook, webhook.events, []);
    for (const kind of ["deliver", "recover"] as const) {
      await disarm(tx, { kind, key: { webhook_id: webhook.id } });
    }
    await arm(tx, discardJob(webhook, tx.now));
    tx.remove(webhooks, webhook);
  },
};

/**
 * Returns a webhook.
 * @throws TidingsError `not_found`
 */
export async function requireWebhook(
  within: Pick<Tx, "get">,
  id: string,
  options?: ReadOptions,
): Promise<Seen<WebhookRow>> {
  const webhook = await within.get(webhookById, [id], options);
  if (webhook === undefined) throw notFound("webhook", id);
  return webhook;
}

/**
 * Returns the normalized URL of a webhook. The stored URL is the one that was checked, so a second
 * parse cannot give a different one.
 * @throws TidingsError `validation_failed` when the URL may not be called; `not_configured` without
 * an HTTP client
 */
function endpointUrl(text: string, { scope, services }: Call): string {
  if (services.destinations === undefined) {
    throw new TidingsError(
      "not_configured",
      "Webhooks need an HTTP client. Set the engine option `http`.",
    );
  }
  const checked = checkUrl(text, services.destinations[scope.mode]);
  if (!checked.ok) {
    const { code } = checked;
    const isForbiddenInLive = code === "scheme_forbidden" && scope.mode === "live";
    const hint = isForbiddenInLive ? " A webhook needs https in live mode." : "";
    throw invalid([{ pointer: "/url", code, message: `${checked.message}${hint}` }]);
  }
  return checked.url.href;
}

/**
 * Makes the first pending delivery of a `fifo` webhook due. If an attempt of it is under way, the
 * delivery is due already, and becomes due again when the attempt has failed
 * (`deliveryAfterAttempt`).
 */
async function endWaitOfFirst(tx: Tx, { id }: WebhookRow): Promise<void> {
  const [first] = await tx.list(deliveriesInOrder, [id], 1);
  const restMs = (first?.next_attempt_at ?? 0) - tx.now;
  if (first === undefined || restMs <= 0) return;
  // Only the time that it has waited counts. A clock that was set back makes the rest longer.
  const wait_ms = Math.max(0, first.wait_ms - restMs);
  tx.update(deliveries, first, { wait_ms, next_attempt_at: tx.now });
}

/** Updates the pattern rows of a webhook when its filter changes. */
async function writePatterns(
  tx: Tx,
  { id: webhook_id }: WebhookRow,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  const [old, fresh] = [withoutCovered(before), withoutCovered(after)];
  for (const pattern of old.filter((each) => !fresh.includes(each))) {
    const row = await tx.get(webhookPatternByName, [pattern, webhook_id]);
    if (row !== undefined) tx.remove(webhookPatterns, row);
  }
  for (const pattern of fresh.filter((each) => !old.includes(each))) {
    tx.insert(webhookPatterns, { pattern, webhook_id });
  }
}
