import { type JobRow, jobs } from "../../src/queue/rows.ts";
import {
  deliveries,
  type DeliveryRow,
  webhooks,
  type WebhookRow,
} from "../../src/webhooks/rows.ts";
import type { Write } from "../../src/ports/storage.ts";

interface Version<R> {
  readonly at: number;
  readonly row: R | undefined;
}

/** What rows were at a time, by what was committed. */
class Versions<R> {
  readonly #versions = new Map<string, Version<R>[]>();

  put(id: string, version: Version<R>): void {
    const before = this.#versions.get(id) ?? [];
    this.#versions.set(id, [...before, version]);
  }

  /** Those that somebody could have read who acts at `at` and looked at most `ms` before. */
  between(id: string, at: number, ms: number): readonly R[] {
    const all = this.#versions.get(id) ?? [];
    const recent = all.filter((_, i) => (all[i + 1]?.at ?? Infinity) >= at - ms);
    return recent.flatMap(({ row }) => (row === undefined ? [] : [row]));
  }
}

/** For how long what was read of a webhook may be acted on, in milliseconds. */
export const longestLook = 3_000;
/** For how long one who has lost its lease may not know it: what it stalls at most, and a lease. */
export const longestBlindness = 120_000;

/** What became of webhooks and their deliveries, and who had them when. */
export class WebhookLog {
  readonly webhooks = new Versions<WebhookRow>();
  readonly deliveries = new Versions<DeliveryRow>();
  readonly #byUrl = new Map<string, WebhookRow>();
  readonly #jobs = new Map<string, JobRow>();
  readonly #takenOver = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  heed(writes: readonly Write[]): void {
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
        this.#heedJob(write.row as unknown as JobRow, at);
      }
    }
  }

  /** The webhook that was ever made with that URL. */
  at(url: string): WebhookRow | undefined {
    return this.#byUrl.get(url);
  }

  /** Whether its deliveries were taken over lately from an owner that was taken for dead. */
  wasTakenOver(webhook_id: string, since: number): boolean {
    return (this.#takenOver.get(webhook_id) ?? -Infinity) >= since - longestBlindness;
  }

  #heedJob(job: JobRow, at: number): void {
    if (job.kind !== "deliver") return;
    const before = this.#jobs.get(job.key);
    if (before?.leased === true && job.leased && before.fence !== job.fence) {
      this.#takenOver.set(job.key, at);
    }
    this.#jobs.set(job.key, job);
  }
}
