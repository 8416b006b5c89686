import { eraseAnswers } from "../operations/erase-answers.ts";
import type { JobHandler } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import type { JobOrder } from "../queue/types.ts";
import { parkedReceipts, parkedReceiptsByExpiry } from "../messages/rows.ts";
import { observations, observationsByExpiry } from "../observations/rows.ts";
import { webchatSessions, webchatSessionsByExpiry } from "../webchat/rows.ts";
import { isRemembered } from "../operations/idempotency-lifetime.ts";
import { idempotency, idempotencyByExpiry } from "../operations/idempotency-rows.ts";
import { type Index, keyOf, type Seen } from "../ports/collection.ts";
import type { UnscopedTx } from "../store/transaction.ts";
import { deliveryReaper } from "../webhooks/reap-deliveries.ts";
import { eventReaper, type ReapEvents } from "../events/reap-events.ts";

const own = { own: true } as const;
const everyMs = 600_000;
/** Rows that one transaction removes; the commands beside it must not wait long. */
const chunk = 200;
/** Chunks in one go; the rest is for the next. */
const mostChunks = 500;

/** Removes what has expired. */
export const reapJob = (due_at: number): JobOrder => ({
  kind: "reap",
  key: "expired",
  account_id: null,
  mode: null,
  lane: "reap",
  due_at,
});

export function reapHandler(work: ReapEvents): JobHandler {
  const { store, clock } = work;
  return {
    kind: "reap",
    async run(claim, { isStopping }) {
      const expiring = [reapIdempotency, reapParked, reapSessions, reapObservations];
      // What tells of an event goes before it.
      for (const reap of [...expiring, deliveryReaper(work, chunk), eventReaper(work, chunk)]) {
        for (let i = 0; i < mostChunks && !isStopping(); i++) {
          if ((await reap(work)) < chunk) break;
        }
      }
      await store.commitUnscoped(
        (tx) => finish(tx, claim, { againAt: clock.now() + everyMs }),
        own,
      );
    },
  };
}

interface Expires {
  readonly expires_at: number | null;
}

/** Takes what has expired, in the order in which it did, a chunk at each call; answers how many rows that were. */
function expiring<R extends Expires>(
  index: Index<R>,
  take: (tx: UnscopedTx, row: Seen<R>) => void | Promise<void>,
): (work: ReapEvents) => Promise<number> {
  const { collection } = index;
  return async ({ store, clock }) => {
    const until = [clock.now()];
    const expired = await store.unscopedReads.range({
      index,
      prefix: [],
      order: "ascending",
      until,
      limit: chunk,
    });
    await store.commitUnscoped(async (tx) => {
      for (const found of expired) {
        const row = await tx.get(collection.primary, keyOf(collection, found));
        // It may have been given more time meanwhile.
        if (row !== undefined && row.expires_at !== null && row.expires_at <= tx.now) {
          await take(tx, row);
        }
      }
    }, own);
    return expired.length;
  };
}

/** Keys whose time is over, but for those whose message is still on its way: a retry must find it. */
const reapIdempotency = expiring(idempotencyByExpiry, async (tx, row) => {
  // Not looked at again until then.
  const isKept = await isRemembered(tx.in(row), row);
  if (isKept) tx.update(idempotency, row, { expires_at: tx.now + everyMs });
  else tx.remove(idempotency, row);
});

const reapParked = expiring(parkedReceiptsByExpiry, (tx, row) => tx.remove(parkedReceipts, row));

/** Webchat sessions that nobody is let in to any more. What they were sent stays: the address may come again in another one. */
const reapSessions = expiring(webchatSessionsByExpiry, (tx, row) =>
  tx.remove(webchatSessions, row),
);

/** What was noticed about somebody for a while, also where it was answered when it was noted. */
const reapObservations = expiring(observationsByExpiry, async (tx, row) => {
  await eraseAnswers(tx.in(row), row.id);
  tx.remove(observations, row);
});
