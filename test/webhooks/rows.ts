/** What is stored about webhooks, seen and changed past the engine. */
import {
  type DeliveryRow,
  deliveries,
  deliveryAttempts,
  deliveryById,
  type WebhookRow,
  webhookPatterns,
  webhooks,
} from "../../src/webhooks/rows.ts";
import { jobs } from "../../src/queue/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { rowsOf } from "../contacts/rows.ts";

/** How many rows there are of all that a webhook has, but its own. */
export async function partsOf(storage: StoragePort, id: string) {
  const own = ({ webhook_id }: { readonly webhook_id: string }): boolean => webhook_id === id;
  const made = (await rowsOf(storage, deliveries)).filter(own);
  const ids = new Set(made.map((delivery) => delivery.id));
  return {
    patterns: (await rowsOf(storage, webhookPatterns)).filter(own).map(({ pattern }) => pattern),
    deliveries: made.length,
    attempts: (await rowsOf(storage, deliveryAttempts)).filter(({ delivery_id }) =>
      ids.has(delivery_id),
    ).length,
    jobs: (await rowsOf(storage, jobs)).filter(({ key }) => key === id).map(({ kind }) => kind),
  };
}

/** Changes deliveries as nobody but time would. */
export async function changeDeliveries(
  storage: StoragePort,
  ids: readonly string[],
  patch: Partial<DeliveryRow>,
): Promise<void> {
  const rows = (await rowsOf(storage, deliveries)).filter(({ id }) => ids.includes(id));
  await storage.begin().commit(
    rows.map((row) => {
      const version = Number(Reflect.get(row, "version"));
      const key = [row.account_id, row.mode, row.id];
      const next = { ...row, ...patch, version: version + 1 };
      return {
        kind: "update",
        collection: deliveryById.collection,
        key,
        version,
        row: next,
        changed: Object.keys(patch),
      };
    }),
  );
}

/** As if it had had all its attempts, in vain. */
export const failed: Partial<DeliveryRow> = {
  status: "failed",
  attempts: 5,
  next_attempt_at: null,
};

/** Webhooks like this one, `count` of them, with the ordinals from 1 on, without patterns. */
export async function addWebhooks(
  storage: StoragePort,
  like: WebhookRow,
  count: number,
): Promise<void> {
  const idOf = (n: number): string => `wh_01H${String(n).padStart(23, "0")}`;
  const rows = Array.from({ length: count }, (_, n) => ({
    ...like,
    id: idOf(n),
    ordinal: n + 1,
    version: 1,
  }));
  await storage.begin().commit(rows.map((row) => ({ kind: "insert", collection: webhooks, row })));
}
