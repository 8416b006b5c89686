import {
  type ById,
  byIdSchema,
  notFound,
  type Page,
  type PageQuery,
  pageQuerySchema,
} from "../kernel/index.ts";
import { mapPage, page, pageOf, type Query } from "../operations/index.ts";
import type { KeyValue, Seen } from "../ports/index.ts";
import { lookAcross, type Reads } from "../store/index.ts";
import { deliveryResource, deliveryWithAttempts, webhookResource } from "./resource.ts";
import {
  deliveriesOfWebhook,
  deliveryAttempts,
  deliveryById,
  webhookById,
  type WebhookRow,
  webhooks,
} from "./rows.ts";
import { mostAttemptsKept, storedStatuses } from "./rules.ts";
import {
  type Delivery,
  type DeliveryOfWebhook,
  deliveryOfWebhookSchema,
  type DeliveryWithAttempts,
  type ListDeliveries,
  listDeliveriesSchema,
  type Webhook,
} from "./types.ts";

export const getWebhook: Query<ById, Webhook> = {
  kind: "query",
  name: "webhooks.get",
  input: () => byIdSchema,
  run: async (reads, { id }) => webhookResource(await readWebhook(reads, id)),
};

/** Newest first. */
export const listWebhooks: Query<PageQuery, Page<Webhook>> = {
  kind: "query",
  name: "webhooks.list",
  input: () => pageQuerySchema,
  async run(reads, input, call) {
    const walk = {
      index: webhooks.primary,
      prefix: [],
      order: "descending",
      operation: "webhooks.list",
      filters: {},
      input,
    } as const;
    return mapPage(await page(reads, walk, call), webhookResource);
  },
};

/** Newest first. Without a status, the stretches of all of them as one. */
export const listDeliveries: Query<ListDeliveries, Page<Delivery>> = {
  kind: "query",
  name: "webhooks.deliveries",
  input: () => listDeliveriesSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { id, status, event_type } = filters;
    const webhook = await readWebhook(reads, id);
    const index = deliveriesOfWebhook;
    const walk = {
      index,
      prefix: 2,
      operation: "webhooks.deliveries",
      filters,
      input: { limit, cursor },
      look: (most: number, after?: readonly KeyValue[]) => {
        const where = event_type === undefined ? {} : { where: { event_type } };
        const from = {
          index,
          order: "descending",
          limit: most,
          ...where,
          ...(after && { after }),
        } as const;
        const stored = storedStatuses(status, webhook.status);
        return lookAcross(
          reads,
          stored.map((each) => ({
            ...from,
            prefix: [webhook.id, each],
          })),
        );
      },
    };
    return mapPage(await pageOf(walk, call), (row) => deliveryResource(row, webhook.status));
  },
};

export const getDelivery: Query<DeliveryOfWebhook, DeliveryWithAttempts> = {
  kind: "query",
  name: "webhooks.delivery",
  input: () => deliveryOfWebhookSchema,
  async run(reads, { id, delivery_id }) {
    const key = [delivery_id] as const;
    const range = {
      index: deliveryAttempts.primary,
      prefix: key,
      order: "ascending",
      limit: mostAttemptsKept,
    } as const;
    const [webhook, delivery, attempts] = await Promise.all([
      readWebhook(reads, id),
      reads.get(deliveryById, key),
      reads.range(range),
    ]);
    if (delivery?.webhook_id !== webhook.id) throw notFound("delivery");
    return deliveryWithAttempts(delivery, webhook.status, attempts);
  },
};

async function readWebhook(reads: Reads, id: string): Promise<Seen<WebhookRow>> {
  const webhook = await reads.get(webhookById, [id]);
  if (webhook === undefined) throw notFound("webhook");
  return webhook;
}
