/** Reads and changes stored rows of webhooks without the engine. */
import type { StoragePort } from "../../src/ports/storage.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import {
  deliveries,
  deliveryAttempts,
  deliveryById,
  webhookPatterns,
  webhooks,
  type DeliveryRow,
  type WebhookRow,
} from "../../src/webhooks/rows.ts";
import { rowsOf } from "../support/storage/rows.ts";

/** The rows that belong to a webhook, except its own. */
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

/** Changes deliveries directly in the storage. */
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

/** A delivery whose attempts all failed. */
export const failed: Partial<DeliveryRow> = {
  status: "failed",
  attempts: 5,
  next_attempt_at: null,
};

/** Adds `count` copies of a webhook with ordinals from 1 on, without patterns. */
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

/** Removes the jobs of a webhook directly in the storage. */
export async function loseJobs(storage: StoragePort, id: string): Promise<void> {
  const lost = (await rowsOf(storage, jobs)).filter(({ key }) => key === id);
  await storage.begin().commit(
    lost.map((job) => {
      const version = Number(Reflect.get(job, "version"));
      return { kind: "remove", collection: jobs, key: [job.kind, job.key], version };
    }),
  );
}
