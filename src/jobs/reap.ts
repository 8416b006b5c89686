import { eraseAnswers } from "../commands/steps/erase-answers.ts";
import type { JobHandler } from "../dispatch/dispatcher.ts";
import { finish } from "../domain/jobs/rows.ts";
import type { JobOrder } from "../domain/jobs/types.ts";
import { parkedReceipts, parkedReceiptsByExpiry, parkedReceiptsOf } from "../domain/messages/rows.ts";
import { observationById, observations, observationsByExpiry } from "../domain/observations/rows.ts";
import { webchatSessionById, webchatSessions, webchatSessionsByExpiry } from "../domain/webchat/rows.ts";
import { isRemembered } from "../idempotency/lifetime.ts";
import { idempotency, idempotencyByExpiry, idempotencyByKey } from "../idempotency/rows.ts";
import { deliveryReaper } from "./reap-deliveries.ts";
import { eventReaper, type ReapEvents } from "./reap-events.ts";

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
      await store.commit((tx) => finish(tx, claim, { againAt: clock.now() + everyMs }), own);
    },
  };
}

/** Keys whose time is over, but for those whose message is still on its way: a retry must find it. */
async function reapIdempotency({ store, clock }: ReapEvents): Promise<number> {
  const expired = await store.reads.range({
    index: idempotencyByExpiry,
    prefix: [],
    order: "ascending",
    until: [clock.now()],
    limit: chunk,
  });
  await store.commit(async (tx) => {
    for (const { account_id, mode, key } of expired) {
      const row = await tx.get(idempotencyByKey, [account_id, mode, key]);
      if (row === undefined || row.expires_at > tx.now) continue;
      // Not looked at again until then.
      if (await isRemembered(tx, row)) tx.update(idempotency, row, { expires_at: tx.now + everyMs });
      else tx.remove(idempotency, row);
    }
  }, own);
  return expired.length;
}

async function reapParked({ store, clock }: ReapEvents): Promise<number> {
  const expired = await store.reads.range({
    index: parkedReceiptsByExpiry,
    prefix: [],
    order: "ascending",
    until: [clock.now()],
    limit: chunk,
  });
  await store.commit(async (tx) => {
    for (const { transport, provider_message_id } of expired) {
      const row = await tx.get(parkedReceiptsOf, [transport, provider_message_id]);
      if (row !== undefined) tx.remove(parkedReceipts, row);
    }
  }, own);
  return expired.length;
}

/** Webchat sessions that nobody is let in to any more. What they were sent stays: the address may come again in another one. */
async function reapSessions({ store, clock }: ReapEvents): Promise<number> {
  const expired = await store.reads.range({
    index: webchatSessionsByExpiry,
    prefix: [],
    order: "ascending",
    until: [clock.now()],
    limit: chunk,
  });
  await store.commit(async (tx) => {
    for (const { account_id, mode, id } of expired) {
      const row = await tx.get(webchatSessionById, [account_id, mode, id]);
      if (row !== undefined) tx.remove(webchatSessions, row);
    }
  }, own);
  return expired.length;
}

/** What was noticed about somebody for a while, also where it was answered when it was noted. */
async function reapObservations({ store, clock }: ReapEvents): Promise<number> {
  const expired = await store.reads.range({
    index: observationsByExpiry,
    prefix: [],
    order: "ascending",
    until: [clock.now()],
    limit: chunk,
  });
  await store.commit(async (tx) => {
    for (const { account_id, mode, contact_id, id } of expired) {
      const row = await tx.get(observationById, [account_id, mode, contact_id, id]);
      if (row === undefined) continue;
      await eraseAnswers(tx, row, id);
      tx.remove(observations, row);
    }
  }, own);
  return expired.length;
}
