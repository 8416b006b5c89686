import { countReapers } from "../accounts/index.ts";
import { agentVersionReaper, playbookVersionReaper, runReaper } from "../agents/index.ts";
import { eventReaper } from "../events/index.ts";
import { earlyReceipts, earlyReceiptsByExpiry } from "../messages/index.ts";
import { observations, observationsByExpiry } from "../observations/index.ts";
import {
  eraseStoredResponses,
  idempotency,
  idempotencyByExpiry,
  isRemembered,
  type Runtime,
} from "../operations/index.ts";
import type { Index, Seen } from "../ports/index.ts";
import { finish, type JobHandler } from "../queue/index.ts";
import { background, reread, type UnscopedTx } from "../store/index.ts";
import { webchatSessions, webchatSessionsByExpiry } from "../webchat/index.ts";
import { deliveryReaper, eventsWithDeliveries } from "../webhooks/index.ts";

const everyMs = 600_000;
/** The number of rows that one transaction removes. It is small because commands run meanwhile. */
const chunk = 200;
/** The number of chunks in one run. The next run continues. */
const maxChunks = 500;

/** Removes expired rows of all accounts, again and again. */
export function reap(runtime: Runtime): JobHandler<"reap"> {
  const { store, clock } = runtime;
  // Created once, because these remember between runs how far they have come.
  const reapersOfCounts = countReapers(runtime, chunk);
  return async (claim, { stopping }) => {
    // Deliveries of an event are removed before the event, and events of a run before the run,
    // and runs before the versions that they used.
    const all = [
      idempotencyReaper(runtime),
      earlyReceiptReaper(runtime),
      sessionReaper(runtime),
      observationReaper(runtime),
      deliveryReaper(runtime, chunk),
      eventReaper(runtime, eventsWithDeliveries, chunk),
      runReaper(runtime, chunk),
      agentVersionReaper(runtime, chunk),
      playbookVersionReaper(runtime, chunk),
      ...reapersOfCounts,
    ];
    for (const reaper of all) await removeChunks(reaper, stopping);
    await store.commitUnscoped(
      (tx) => finish(tx, claim, { againAt: clock.now() + everyMs }),
      background,
    );
  };
}

/** Removes rows until none is left, but not more than one run may. */
async function removeChunks(remove: () => Promise<number>, stopping: AbortSignal): Promise<void> {
  for (let i = 0; i < maxChunks && !stopping.aborted; i++) {
    const removed = await remove();
    if (removed < chunk) return;
  }
}

interface Expires {
  readonly expires_at: number | null;
}

/**
 * Returns a function that makes a reaper. The reaper finds one chunk of expired rows, oldest first,
 * calls `reapRow` for each, and returns how many it found.
 */
function expiryReaper<R extends Expires>(
  index: Index<R>,
  reapRow: (tx: UnscopedTx, row: Seen<R>, runtime: Runtime) => void | Promise<void>,
): (runtime: Runtime) => () => Promise<number> {
  return (runtime) => async () => {
    const { store, clock } = runtime;
    const expired = await store.unscopedReads.range({
      index,
      prefix: [],
      order: "ascending",
      until: [clock.now()],
      limit: chunk,
    });
    await store.commitUnscoped(async (tx) => {
      const rows = await reread(tx, index.collection.primary, expired);
      // Its time may have been extended meanwhile.
      const left = rows.filter(({ expires_at }) => expires_at !== null && expires_at <= tx.now);
      await Promise.all(left.map(async (row) => reapRow(tx, row, runtime)));
    }, background);
    return expired.length;
  };
}

/** Keeps the keys of messages that are still being sent: a retry of the request must find them. */
const idempotencyReaper = expiryReaper(idempotencyByExpiry, async (tx, row, { services }) => {
  const isKept = await isRemembered(tx.in(row), row, services);
  // A kept key is checked again at that time.
  if (isKept) tx.update(idempotency, row, { expires_at: tx.now + everyMs });
  else tx.remove(idempotency, row);
});

const earlyReceiptReaper = expiryReaper(earlyReceiptsByExpiry, (tx, row) =>
  tx.remove(earlyReceipts, row),
);

/**
 * Webchat sessions that have expired. Their messages stay: another session may have the same
 * address.
 */
const sessionReaper = expiryReaper(webchatSessionsByExpiry, (tx, row) =>
  tx.remove(webchatSessions, row),
);

/** Observations that have expired, and the stored responses that show them. */
const observationReaper = expiryReaper(observationsByExpiry, async (tx, row) => {
  await eraseStoredResponses(tx.in(row), row.id);
  tx.remove(observations, row);
});
