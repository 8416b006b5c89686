import { countReapers } from "../accounts/index.ts";
import { agentVersionReaper, playbookVersionReaper, runReaper } from "../agents/index.ts";
import { eventReaper } from "../events/index.ts";
import { earlyReceipts, earlyReceiptsByExpiry } from "../messages/index.ts";
import { observations, observationsByExpiry, type ObservationRow } from "../observations/index.ts";
import {
  eraseStoredResponses,
  idempotency,
  idempotencyByExpiry,
  isRemembered,
  type IdempotencyRow,
  type Runtime,
  type Services,
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
      expiryReaper(runtime, idempotencyByExpiry, reapKey),
      expiryReaper(runtime, earlyReceiptsByExpiry, (tx, row) => tx.remove(earlyReceipts, row)),
      // The messages stay: another session may have the same address.
      expiryReaper(runtime, webchatSessionsByExpiry, (tx, row) => tx.remove(webchatSessions, row)),
      expiryReaper(runtime, observationsByExpiry, reapObservation),
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
 * Returns a function that finds one chunk of expired rows, oldest first, calls `reapRow` for each,
 * and returns how many it found.
 */
function expiryReaper<R extends Expires>(
  { store, clock, services }: Runtime,
  index: Index<R>,
  reapRow: (tx: UnscopedTx, row: Seen<R>, services: Services) => void | Promise<void>,
): () => Promise<number> {
  return async () => {
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
      await Promise.all(left.map(async (row) => reapRow(tx, row, services)));
    }, background);
    return expired.length;
  };
}

/** Keeps the keys of messages that are still being sent: a retry of the request must find them. */
async function reapKey(
  tx: UnscopedTx,
  row: Seen<IdempotencyRow>,
  services: Services,
): Promise<void> {
  const isKept = await isRemembered(tx.in(row), row, services);
  // A kept key is checked again at that time.
  if (isKept) tx.update(idempotency, row, { expires_at: tx.now + everyMs });
  else tx.remove(idempotency, row);
}

/** Removes an observation, and the stored responses that show it. */
async function reapObservation(tx: UnscopedTx, row: Seen<ObservationRow>): Promise<void> {
  await eraseStoredResponses(tx.in(row), row.id);
  tx.remove(observations, row);
}
