import {
  byIdSchema,
  definedFields,
  notFound,
  withId,
  type ById,
  type Page,
} from "../kernel/index.ts";
import { listQuery, shownPage, type Query } from "../operations/index.ts";
import type { KeyValue } from "../ports/index.ts";
import { scanAcross, type Reads } from "../store/index.ts";
import { requireWebhook } from "./commands.ts";
import { storedStatuses } from "./deliveries/delivery-rules.ts";
import {
  deliveryOfWebhookSchema,
  listDeliveriesSchema,
  type DeliveryOfWebhook,
  type DeliveryWithAttempts,
  type DeliveryWithBody,
  type ListDeliveries,
} from "./deliveries/delivery-types.ts";
import {
  deliveriesOfWebhook,
  deliveryAttemptByNumber,
  deliveryAttempts,
  deliveryById,
  maxAttemptsRead,
  maxWebhooks,
  webhooks,
  type DeliveryRow,
  type WebhookRow,
} from "./rows.ts";
import { webhookResource, withAttempts } from "./show.ts";
import type { Webhook } from "./types.ts";

export const getWebhook: Query<ById, Webhook> = {
  kind: "query",
  name: "webhooks.get",
  input: () => byIdSchema,
  run: async (reads, { id }) => webhookResource(await requireWebhook(reads, id)),
};

/** A webhook that waits, with the oldest of its deliveries that have not succeeded or failed. */
interface Pending {
  readonly webhook: WebhookRow;
  readonly delivery: DeliveryRow;
}

/** Returns the webhooks that have waiting deliveries, in the order of creation. */
export async function oldestPending(reads: Reads): Promise<readonly Pending[]> {
  const all = await reads.range({
    index: webhooks.primary,
    prefix: [],
    order: "ascending",
    limit: maxWebhooks,
  });
  const keys = all.map(({ id }) => [id, "pending"]);
  const oldest = await reads.lists(deliveriesOfWebhook, keys, 1);
  return all.flatMap((webhook, i) => {
    const delivery = oldest[i]?.[0];
    return delivery === undefined ? [] : [{ webhook, delivery }];
  });
}

/** Returns the newest first. */
export const listWebhooks = listQuery({
  name: "webhooks.list",
  index: webhooks.primary,
  order: "descending",
  show: (rows) => rows.map(webhookResource),
});

/** Returns the newest first. Without a status, the ranges of all statuses are merged. */
export const listDeliveries: Query<ListDeliveries & ById, Page<DeliveryWithAttempts>> = {
  kind: "query",
  name: "webhooks.deliveries",
  input: () => withId(listDeliveriesSchema, "The id of the webhook."),
  async run(reads, { limit, cursor, ...filters }, call, now) {
    const { id, status, event_type } = filters;
    const webhook = await requireWebhook(reads, id);
    const index = deliveriesOfWebhook;
    const list = {
      index,
      prefix: 2,
      operation: "webhooks.deliveries",
      filters,
      input: { limit, cursor },
      scan: (max: number, after?: readonly KeyValue[]) => {
        const where = definedFields({ event_type });
        const from = { index, order: "descending", where, limit: max } as const;
        const stored = storedStatuses(status, webhook.status);
        return scanAcross(
          reads,
          stored.map((each) => ({ ...from, prefix: [webhook.id, each], ...(after && { after }) })),
        );
      },
    };
    const show = async (rows: readonly DeliveryRow[]): Promise<DeliveryWithAttempts[]> => {
      const attempts = await reads.getAll(deliveryAttemptByNumber, rows.flatMap(latestNumbers));
      const byDelivery = Map.groupBy(attempts, ({ delivery_id }) => delivery_id);
      return rows.map((row) => withAttempts(row, webhook, byDelivery.get(row.id) ?? [], now));
    };
    return shownPage(list, show, call);
  },
};

export const getDelivery: Query<DeliveryOfWebhook, DeliveryWithBody> = {
  kind: "query",
  name: "webhooks.delivery",
  input: () => deliveryOfWebhookSchema,
  async run(reads, { id, delivery_id }, _call, now) {
    const key = [delivery_id] as const;
    const [webhook, delivery, attempts] = await Promise.all([
      requireWebhook(reads, id),
      reads.get(deliveryById, key),
      reads.range({
        index: deliveryAttempts.primary,
        prefix: key,
        order: "ascending",
        limit: maxAttemptsRead,
      }),
    ]);
    if (delivery?.webhook_id !== webhook.id) throw notFound("delivery", delivery_id);
    return { ...withAttempts(delivery, webhook, attempts, now), body: delivery.body };
  },
};

/** The number of attempts that each delivery of a list shows. A response can have 16 KiB. */
const maxAttemptsShown = 5;

/** The keys of the latest attempts of a delivery, oldest first. */
function latestNumbers({ id, attempts }: DeliveryRow): (readonly [string, number])[] {
  const first = Math.max(1, attempts - maxAttemptsShown + 1);
  return Array.from({ length: attempts - first + 1 }, (_, i) => [id, first + i] as const);
}
