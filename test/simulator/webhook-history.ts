import type { Write } from "../../src/ports/storage.ts";
import { jobs, type JobRow } from "../../src/queue/jobs/rows.ts";
import {
  deliveries,
  webhooks,
  type DeliveryRow,
  type WebhookRow,
} from "../../src/webhooks/rows.ts";

interface Version<R> {
  readonly at: number;
  readonly row: R | undefined;
}

/** The versions of rows over time, according to the commits. */
class Versions<R> {
  readonly #versions = new Map<string, Version<R>[]>();

  put(id: string, version: Version<R>): void {
    const before = this.#versions.get(id) ?? [];
    this.#versions.set(id, [...before, version]);
  }

  /** The versions that an engine may have read if it acts at `at` on a read up to `ms` old. */
  between(id: string, at: number, ms: number): readonly R[] {
    const all = this.#versions.get(id) ?? [];
    const recent = all.filter((_, i) => (all[i + 1]?.at ?? Infinity) >= at - ms);
    return recent.flatMap(({ row }) => (row === undefined ? [] : [row]));
  }
}

/** How old a read may be on which an engine acts, in milliseconds. */
export const maxReadAgeMs = 3_000;
/** How long an engine may work on under a lease that it lost: the longest stall and a lease. */
export const maxStaleOwnerMs = 120_000;

/** The history of webhooks, deliveries and their leases, according to the commits. */
export class WebhookHistory {
  readonly webhooks = new Versions<WebhookRow>();
  readonly deliveries = new Versions<DeliveryRow>();
  readonly #byUrl = new Map<string, WebhookRow>();
  readonly #jobs = new Map<string, JobRow>();
  readonly #takenOver = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  apply(writes: readonly Write[]): void {
    const at = this.#now();
    for (const write of writes) {
      const isRow = write.kind === "insert" || write.kind === "update";
      if (write.collection === webhooks) {
        const row = isRow ? (write.row as unknown as WebhookRow) : undefined;
        if (row !== undefined) this.#byUrl.set(row.url, row);
        if (row !== undefined) this.webhooks.put(row.id, { at, row });
        else if (write.kind === "remove") this.webhooks.put(String(write.key[2]), { at, row });
      } else if (write.collection === deliveries) {
        const row = isRow ? (write.row as unknown as DeliveryRow) : undefined;
        if (row !== undefined) {
          this.deliveries.put(`${row.webhook_id} ${row.event_id}`, { at, row });
        }
      } else if (write.collection === jobs && isRow) {
        this.#applyJob(write.row as unknown as JobRow, at);
      }
    }
  }

  /** The webhook that was created with this URL. */
  at(url: string): WebhookRow | undefined {
    return this.#byUrl.get(url);
  }

  /** Whether another engine recently took over the webhook's deliveries after the lease lapsed. */
  wasTakenOver(webhook_id: string, since: number): boolean {
    return (this.#takenOver.get(webhook_id) ?? -Infinity) >= since - maxStaleOwnerMs;
  }

  #applyJob(job: JobRow, at: number): void {
    if (job.kind !== "deliver") return;
    const before = this.#jobs.get(job.key);
    if (before?.leased === true && job.leased && before.fence !== job.fence) {
      this.#takenOver.set(job.key, at);
    }
    this.#jobs.set(job.key, job);
  }
}
