import {
  deliveriesDue,
  deliveriesInOrder,
  type DeliveryRow,
  manualDeliveries,
  webhookById,
  type WebhookRow,
} from "./rows.ts";
import type { Clock, ScopedIndex, Seen } from "../ports/index.ts";
import type { Reads, Tx } from "../store/index.ts";
import { type Claim, finish } from "../queue/index.ts";
import type { WebhookId } from "../kernel/index.ts";
import { automaticAt, pausedUntil } from "./rules.ts";

interface DueOptions {
  readonly now: number;
  /** Deliveries to leave out: already read, under way, or not yet recorded. */
  readonly excluded: ReadonlySet<string>;
  /** The maximum number of deliveries to return; at least 1. */
  readonly limit: number;
  /** Whether an attempt of the schedule goes before a manual one. Applies to `fifo` ordering. */
  readonly isTurnOfSchedule: boolean;
}

/** Returns the deliveries that may be sent to a webhook now, in sending order. */
async function dueDeliveries(
  reads: Reads,
  webhook: WebhookRow,
  { now, excluded, limit: maxDue, isTurnOfSchedule }: DueOptions,
): Promise<readonly DeliveryRow[]> {
  const limit = excluded.size + maxDue;
  const [manual, automatic] = await Promise.all([
    reads.range({ ...of(manualDeliveries, webhook), limit }),
    webhook.ordering === "fifo"
      ? reads.range({ ...of(deliveriesInOrder, webhook), limit })
      : reads.range({ ...of(deliveriesDue, webhook), until: [now + 1], limit }),
  ]);
  const due =
    webhook.ordering === "fifo"
      ? inOrder(webhook, automatic, manual, { now, isTurnOfSchedule })
      : inAnyOrder(webhook, automatic, manual, now);
  return due.filter(({ id }) => !excluded.has(id)).slice(0, maxDue);
}

/**
 * Returns manual and automatic deliveries by turns. A recovery can request many manual attempts,
 * which would otherwise hold up new events, and a backlog would hold up a manual attempt.
 */
function inAnyOrder(webhook: WebhookRow, automatic: Rows, manual: Rows, now: number): Rows {
  if (!isSending(webhook, now)) return manual;
  const length = Math.max(manual.length, automatic.length);
  const turns = Array.from({ length }, (_, i) => [manual[i], automatic[i]]).flat();
  const due = turns.filter((delivery) => delivery !== undefined);
  return [...new Map(due.map((delivery) => [delivery.id, delivery])).values()];
}

/**
 * Returns a manual delivery if the order allows it, or the first automatic one if that is due and
 * it is its turn: a recovery can request many manual attempts. Otherwise returns the automatic ones
 * before the first manual one, up to the first that is not due, or none while the webhook is not
 * sending.
 */
function inOrder(
  webhook: WebhookRow,
  automatic: Rows,
  [manual]: Rows,
  { now, isTurnOfSchedule }: Pick<DueOptions, "now" | "isTurnOfSchedule">,
): Rows {
  const [head] = automatic;
  const allowed = allowedManual(webhook, head, manual);
  if (allowed !== undefined) {
    const mayGo = isTurnOfSchedule && head !== undefined && automaticAt(webhook, head, now) <= now;
    return [mayGo ? head : allowed];
  }
  const isDue = ({ next_attempt_at, position }: DeliveryRow): boolean =>
    (next_attempt_at ?? Infinity) <= now && position <= (manual?.manual_after ?? Infinity);
  const first = automatic.findIndex((delivery) => !isDue(delivery));
  if (!isSending(webhook, now)) return [];
  return first === -1 ? automatic : automatic.slice(0, first);
}

type Rows = readonly DeliveryRow[];

const of = (index: ScopedIndex<DeliveryRow>, { id }: WebhookRow) =>
  ({ index, prefix: [id], order: "ascending" }) as const;

/** Returns when the next delivery of a webhook is due, or Infinity when none is left. */
export async function nextDeliveryAt(tx: Tx, webhook: WebhookRow): Promise<number> {
  const [[next], [manual]] = await Promise.all([
    tx.list(webhook.ordering === "fifo" ? deliveriesInOrder : deliveriesDue, [webhook.id], 1),
    tx.list(manualDeliveries, [webhook.id], 1),
  ]);
  const isAllowed = allowedManual(webhook, next, manual) !== undefined;
  const automatic = next === undefined ? Infinity : automaticAt(webhook, next, tx.now);
  return Math.min(automatic, isAllowed ? tx.now : Infinity);
}

/** Releases the job of a webhook until `againAt`, or removes it when that is Infinity. */
export function releaseWebhookJob(
  tx: Tx,
  claim: Claim<"deliver">,
  webhook: WebhookRow,
  againAt: number,
): Promise<void> {
  // A failing receiver gets a slow lane. The job itself did not fail, so it has no back-off.
  return finish(tx, claim, { againAt, lane: { ...claim.lane, slow: !webhook.proven } });
}

/**
 * Releases the job of a webhook until its next delivery is due, or removes it when no delivery is
 * left.
 */
export async function endWebhookDrain(tx: Tx, claim: Claim<"deliver">): Promise<void> {
  // Held, so that a transaction that enables the webhook at the same time commits before or after
  // this one. It arms the job.
  const webhook = await tx.get(webhookById, [claim.key.webhook_id], { hold: true });
  if (webhook === undefined) return finish(tx, claim);
  return releaseWebhookJob(tx, claim, webhook, await nextDeliveryAt(tx, webhook));
}

/**
 * Returns the delivery that may get its manual attempt now, if there is one. With `fifo` ordering,
 * the attempt waits until the automatic deliveries that existed when it was requested have ended. A
 * request for the first of these does not wait. Nothing waits while the webhook is not enabled.
 * @param head the first automatic delivery
 * @param manual the first manual delivery
 */
function allowedManual(
  { ordering, status }: Pick<WebhookRow, "ordering" | "status">,
  head: DeliveryRow | undefined,
  manual: DeliveryRow | undefined,
): DeliveryRow | undefined {
  if (ordering === "none" || status !== "enabled" || head === undefined) return manual;
  if (manual !== undefined && manual.manual_after < head.position) return manual;
  return head.manual_at === null ? undefined : head;
}

/** Whether automatic attempts may be made at this time. */
function isSending(webhook: Pick<WebhookRow, "status" | "paused_until">, now: number): boolean {
  return webhook.status === "enabled" && pausedUntil(webhook, now) <= now;
}

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
   * True at first, also when each drain has time for one attempt only: a failed first delivery waits
   * for its retry, and manual attempts are made meanwhile.
   */
  #isTurnOfSchedule = true;

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
    this.#isTurnOfSchedule = delivery.manual_at !== null;
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
      isTurnOfSchedule: this.#isTurnOfSchedule,
    });
    if (this.#page.length === 0) this.#pageReadAt = now;
    this.#page.push(...due);
    if (due.length === limit) this.#pageSize = Math.min(2 * limit, page.max);
  }
}
