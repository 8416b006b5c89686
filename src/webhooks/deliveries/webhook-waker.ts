import type { Scope, WebhookId } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import { arm, Follower, type Step } from "../../queue/index.ts";
import { background, unscoped, type Store, type Tx, type UnscopedTx } from "../../store/index.ts";
import { deliverJob, discardJob } from "../job-orders.ts";
import {
  cursorByName,
  cursors,
  deliveries,
  deliveriesByPosition,
  webhookById,
  type DeliveryRow,
} from "../rows.ts";
import { pausedUntil } from "../rules.ts";

/** Deliveries per read. */
const pageSize = 500;

/**
 * Follows the log of deliveries and arms the job of each webhook that has new deliveries.
 * Transactions that create events therefore write no job, and many deliveries of one webhook arm
 * its job once. Every engine follows the log. The stored cursor decides which engine was first.
 */
export class WebhookWaker {
  readonly #store: Store;
  readonly #follower: Follower;
  /**
   * The stored cursor as this engine last read or moved it. It only moves forward, so if there are
   * no deliveries after this position, there is nothing to do and the cursor need not be read.
   */
  #cursor: number | undefined;
  #unsubscribe = (): void => {};

  constructor(options: Pick<Runtime, "store" | "clock" | "logger">) {
    this.#store = options.store;
    this.#follower = new Follower({
      ...options,
      step: () => this.#step(),
      failureText: "failed to read new deliveries; retrying",
      recoveryText: "new deliveries can be read again",
    });
  }

  start(): void {
    this.#unsubscribe = this.#store.onCommit((writes) => {
      if (writes.some(({ kind, collection }) => kind === "insert" && collection === deliveries)) {
        this.wake();
      }
    });
    this.#follower.start();
  }

  /** Call when another process may have committed deliveries. */
  wake(): void {
    this.#follower.wake();
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#follower.stop();
  }

  async #step(): Promise<Step> {
    this.#cursor ??= await this.#readCursor();
    let found = await this.#readAfter(this.#cursor);
    if (found.length === 0) return "wait";
    const from = await this.#readCursor();
    if (from !== this.#cursor) {
      this.#cursor = from;
      found = await this.#readAfter(from);
    }
    const last = found.at(-1);
    if (last === undefined) return "wait";
    const webhooks = new Map(
      found.map(({ account_id, mode, webhook_id }) => [webhook_id, { account_id, mode }]),
    );
    const isMoved = await this.#store.commitUnscoped(
      (tx) => moveCursor(tx, { from, to: last.position, webhooks }),
      background,
    );
    this.#cursor = isMoved ? last.position : undefined;
    return found.length === pageSize ? "more" : "wait";
  }

  async #readCursor(): Promise<number> {
    const cursor = await this.#store.unscopedReads.get(cursorByName, ["deliveries"]);
    return cursor?.position ?? 0;
  }

  #readAfter(position: number): Promise<readonly DeliveryRow[]> {
    return this.#store.unscopedReads.range({
      index: deliveriesByPosition,
      prefix: [],
      order: "ascending",
      after: [position],
      limit: pageSize,
    });
  }
}

interface CursorMove {
  /** The cursor when the log was read. */
  readonly from: number;
  readonly to: number;
  /** The webhooks of the deliveries in the range, with their scopes. */
  readonly webhooks: ReadonlyMap<WebhookId, Scope>;
}

/**
 * Moves the cursor along the log of deliveries and arms the jobs of the webhooks that have new
 * deliveries. When several engines read the same range, only the first one moves the cursor. The
 * others find a changed cursor and write nothing. A webhook that is not enabled gets no job.
 * Enabling it arms the job. Returns whether the cursor was moved.
 */
async function moveCursor(tx: UnscopedTx, { from, to, webhooks }: CursorMove): Promise<boolean> {
  const cursor = await tx.get(cursorByName, ["deliveries"]);
  if ((cursor?.position ?? 0) !== from) return false;
  const columns = { position: to, moved_at: tx.now };
  if (cursor === undefined) tx.insert(cursors, { name: "deliveries", ...columns });
  else tx.update(cursors, cursor, columns);
  await Promise.all(
    [...webhooks].map(async ([id, { account_id, mode }]) => {
      const webhook = await tx.get(webhookById, [account_id, mode, id]);
      // The webhook was deleted while these deliveries were being committed.
      if (webhook === undefined) return arm(tx, discardJob({ account_id, mode, id }, tx.now));
      if (webhook.status !== "enabled") return;
      await arm(tx, deliverJob(webhook, Math.max(tx.now, pausedUntil(webhook, tx.now))));
    }),
  );
  return true;
}

/** Returns the position up to which the log of deliveries has been followed. */
export async function followedPosition(tx: Tx): Promise<number> {
  const cursor = await unscoped(tx).get(cursorByName, ["deliveries"]);
  return cursor?.position ?? 0;
}
