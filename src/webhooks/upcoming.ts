import { type DeliveryRow, webhookById, type WebhookRow } from "./rows.ts";
import type { WebhookId } from "../kernel/ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { Seen } from "../ports/collection.ts";
import type { Reads } from "../store/reads.ts";
import { dueDeliveries } from "./due-deliveries.ts";

/** Deliveries that are read at once: at first, and at most, when they are soon sent. */
const page = { least: 16, most: 64 } as const;
/** How few are left when more are read. */
const fewLeft = 16;
/** For how long a page is good. Commits of this process undo it at once (`forget`), so this is for what others do to a delivery. */
const goodMs = 250;

/** A delivery, and the webhook that it is sent to as it is now. */
export interface Next {
  readonly webhook: WebhookRow;
  readonly delivery: DeliveryRow;
}

/**
 * What a webhook is sent next, read ahead. Its deliveries are read by the page. The webhook itself is looked at again in each millisecond in
 * which something is sent: who pauses or deletes it, or changes its URL or secret, in whichever process, is heeded as soon as can be seen.
 */
export class Upcoming {
  readonly #reads: Reads;
  readonly #clock: Clock;
  readonly #key: readonly [WebhookId];
  #webhook: Seen<WebhookRow> | undefined;
  #seenAt = -Infinity;
  #page: DeliveryRow[] = [];
  #pageSize: number = page.least;
  #readAt = -Infinity;
  #forgotten = 0;

  constructor(reads: Reads, clock: Clock, id: WebhookId) {
    this.#reads = reads;
    this.#clock = clock;
    this.#key = [id];
  }

  /** Whether what is at hand can be sent without a look at the webhook before. */
  get isFresh(): boolean {
    return this.#seenAt === this.#clock.now();
  }

  get isInOrder(): boolean {
    return this.#webhook?.ordering === "fifo";
  }

  /** Nothing is at hand. */
  get isEmpty(): boolean {
    return this.#page.length === 0;
  }

  take(): Next | undefined {
    const [webhook, delivery] = [this.#webhook, this.#page.shift()];
    return webhook && delivery && { webhook, delivery };
  }

  /** Something of it was changed. */
  forget(): void {
    this.#forgotten++;
    this.#page = [];
    this.#seenAt = -Infinity;
  }

  /** Looks at the webhook, and for what is due to be sent to it where few are left. `held` are not to be sent again. */
  async look(held: ReadonlySet<string>): Promise<WebhookRow | undefined> {
    const forgotten = this.#forgotten;
    const webhook = await this.#reads.get(webhookById, this.#key);
    if (webhook?.version !== this.#webhook?.version) {
      this.#webhook = webhook;
      this.#page = [];
    }
    if (Math.abs(this.#clock.now() - this.#readAt) > goodMs) {
      this.#page = [];
      this.#pageSize = page.least;
    }
    if (webhook !== undefined && this.#page.length < fewLeft) await this.#read(webhook, held);
    if (forgotten === this.#forgotten) this.#seenAt = this.#clock.now();
    else this.#page = [];
    return webhook;
  }

  async #read(webhook: WebhookRow, held: ReadonlySet<string>): Promise<void> {
    const now = this.#clock.now();
    const most = this.#pageSize;
    // What is written down while this reads may be read as it was before.
    const known = new Set([...held, ...this.#page.map(({ id }) => id)]);
    const due = await dueDeliveries(this.#reads, webhook, { now, known, most });
    if (this.#page.length === 0) this.#readAt = now;
    this.#page.push(...due);
    if (due.length === most) this.#pageSize = Math.min(2 * most, page.most);
  }
}
