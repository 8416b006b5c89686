import type { WebhookId } from "../../kernel/index.ts";
import type { Clock, Seen } from "../../ports/index.ts";
import type { Reads } from "../../store/index.ts";
import { webhookById, type DeliveryRow, type WebhookRow } from "../rows.ts";
import { dueDeliveries } from "./due-deliveries.ts";

/** Deliveries per read: the first page size, and the maximum while deliveries are sent quickly. */
const page = { min: 16, max: 64 } as const;
/** When fewer deliveries are left, more are read. */
const refillBelow = 16;
/**
 * How long a page is used, in milliseconds. Commits of this process discard it at once (`forget`).
 * The limit is for changes by other processes.
 */
const pageMs = 250;

/** A delivery, and the current row of its webhook. */
export interface NextDelivery {
  readonly webhook: WebhookRow;
  readonly delivery: DeliveryRow;
}

/**
 * Reads the next deliveries of a webhook ahead, one page at a time. The webhook itself is read
 * again in each millisecond in which a request begins. A pause, a removal, a new URL or a new
 * secret therefore applies at once, whichever process wrote it.
 */
export class ReadAhead {
  readonly #reads: Reads;
  readonly #clock: Clock;
  readonly #key: readonly [WebhookId];
  #webhook: Seen<WebhookRow> | undefined;
  #webhookReadAt = -Infinity;
  #page: DeliveryRow[] = [];
  #pageSize: number = page.min;
  #pageReadAt = -Infinity;
  #forgetCount = 0;
  /**
   * Each drain starts with an automatic attempt. Manual attempts are not starved if a drain makes
   * only one, while the failed first delivery waits for its retry.
   */
  #isAutomaticNext = true;

  constructor(reads: Reads, clock: Clock, id: WebhookId) {
    this.#reads = reads;
    this.#clock = clock;
    this.#key = [id];
  }

  /** Whether the deliveries in the page can be sent without reading the webhook again. */
  get isFresh(): boolean {
    return this.#webhookReadAt === this.#clock.now();
  }

  /** Whether the webhook has `fifo` ordering. False before the first read. */
  get isInOrder(): boolean {
    return this.#webhook?.ordering === "fifo";
  }

  /** Whether the page is empty. */
  get isEmpty(): boolean {
    return this.#page.length === 0;
  }

  /** Takes the next delivery of the page. Undefined if the page is empty. */
  take(): NextDelivery | undefined {
    const [webhook, delivery] = [this.#webhook, this.#page.shift()];
    if (webhook === undefined || delivery === undefined) return undefined;
    this.#isAutomaticNext = delivery.manual_at !== null;
    return { webhook, delivery };
  }

  /** Discards the page, because the webhook or a delivery has changed. */
  forget(): void {
    this.#forgetCount++;
    this.#page = [];
    this.#webhookReadAt = -Infinity;
  }

  /**
   * Reads the webhook, and more deliveries if few are left. Deliveries in `excluded` are left out.
   * Returns the same object until the webhook changes, and undefined if it was deleted.
   */
  async read(excluded: ReadonlySet<string>): Promise<WebhookRow | undefined> {
    const forgetCount = this.#forgetCount;
    const webhook = await this.#reads.get(webhookById, this.#key);
    if (webhook?.version !== this.#webhook?.version) {
      this.#webhook = webhook;
      this.#page = [];
    }
    if (Math.abs(this.#clock.now() - this.#pageReadAt) > pageMs) {
      this.#page = [];
      this.#pageSize = page.min;
    }
    if (webhook !== undefined && this.#page.length < refillBelow) {
      await this.#readPage(webhook, excluded);
    }
    if (forgetCount === this.#forgetCount) this.#webhookReadAt = this.#clock.now();
    else this.#page = [];
    return this.#webhook;
  }

  async #readPage(webhook: WebhookRow, excluded: ReadonlySet<string>): Promise<void> {
    const now = this.#clock.now();
    const limit = this.#pageSize;
    // A read may return an old version of a delivery that is recorded during the read.
    const excludedIds = new Set([...excluded, ...this.#page.map(({ id }) => id)]);
    const due = await dueDeliveries(this.#reads, webhook, {
      now,
      excluded: excludedIds,
      limit,
      isAutomaticNext: this.#isAutomaticNext,
    });
    if (this.#page.length === 0) this.#pageReadAt = now;
    this.#page.push(...due);
    if (due.length === limit) this.#pageSize = Math.min(2 * limit, page.max);
  }
}
