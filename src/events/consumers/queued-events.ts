import { notFound } from "../../kernel/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm, finish, renew, type Claim } from "../../queue/index.ts";
import { unscoped, type Tx, type UnscopedTx } from "../../store/index.ts";
import { events, eventsByPosition, rewriteEvent, type EventRow } from "../rows.ts";
import { consumeJob } from "./job-orders.ts";
import {
  consumerEventOf,
  consumerEvents,
  consumerEventsOfKey,
  consumers,
  maxConsumers,
  type ConsumerEventRow,
} from "./rows.ts";

export interface NextConsumerEvent {
  readonly row: Seen<ConsumerEventRow>;
  readonly event: Seen<EventRow>;
}

/**
 * Rows read per call. More than one is needed only when events were deleted, as by a reset of the
 * sandbox.
 */
const maxScanned = 50;
/**
 * The wait after each failure, in milliseconds. One more failure parks the event, about an hour and
 * three quarters after the first.
 */
const retryDelays = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const;

/**
 * Returns the first unhandled event of the key, and renews the lease so that it outlasts the
 * handler. When there is none, or it is parked, the job is finished. When it waits for a retry, the
 * job runs again then. When the lease was lost, nothing is written.
 *
 * The error of the last attempt is removed. A handler's transaction therefore only locks rows
 * without an error. Erasures and redactions skip these, so they do not wait for a handler.
 */
export async function nextConsumerEvent(
  tx: UnscopedTx,
  claim: Claim<"consume">,
): Promise<NextConsumerEvent | undefined> {
  if ((await renew(tx, claim)) === undefined) return undefined;
  const { consumer, key } = claim.key;
  const rows = await tx.list(consumerEventsOfKey, [consumer, key], maxScanned);
  for (const row of rows) {
    const { parked_at, retry_at, position } = row;
    if (parked_at !== null) {
      // Resuming or skipping the event arms the job.
      await finish(tx, claim);
      return undefined;
    }
    if (retry_at !== null && retry_at > tx.now) {
      // A later event of the key armed the job too early.
      await finish(tx, claim, { againAt: retry_at, failure: "job" });
      return undefined;
    }
    const event = await tx.get(eventsByPosition, [position]);
    if (event !== undefined) {
      const { error } = row;
      return { row: error === null ? row : tx.update(consumerEvents, row, { error: null }), event };
    }
    tx.remove(consumerEvents, row);
  }
  await finish(tx, claim, rows.length < maxScanned ? {} : { againAt: tx.now });
  return undefined;
}

/**
 * Removes an event from the queue of the consumer. The handler's transaction does this first, so
 * another engine with the same event waits for the outcome and then finds the event handled.
 * Returns whether the event was queued.
 */
export async function takeConsumerEvent(
  tx: UnscopedTx,
  { consumer, key, position }: Pick<ConsumerEventRow, "consumer" | "key" | "position">,
): Promise<boolean> {
  const row = await tx.get(consumerEventsOfKey, [consumer, key, position]);
  if (row === undefined || row.parked_at !== null) return false;
  tx.remove(consumerEvents, row);
  return true;
}

/**
 * Records a failure of the handler. The event is retried after a delay, and parked after the last
 * attempt. Until then only events of the same key wait. Returns whether the event is parked.
 */
export async function failConsumerEvent(
  tx: UnscopedTx,
  claim: Claim<"consume">,
  { row: { consumer, key, position }, event }: NextConsumerEvent,
  thrown: string,
): Promise<boolean> {
  const row = await tx.get(consumerEventsOfKey, [consumer, key, position]);
  // An earlier commit with an unknown outcome has succeeded, or another engine handled the event
  // under a later lease.
  if (row === undefined || row.parked_at !== null) {
    await finish(tx, claim, { againAt: tx.now });
    return false;
  }
  const latest = await tx.get(eventsByPosition, [position]);
  // If the event was erased or redacted during the call, the error is not stored: it may quote what
  // was removed.
  const error = latest?.rewrites === event.rewrites ? thrown : "";
  // An erasure or a redaction under way must find the error.
  if (latest !== undefined) tx.touch(events, latest);
  const delay = retryDelays[row.failures];
  const isParked = delay === undefined;
  const retry_at = isParked ? null : tx.now + delay;
  tx.update(consumerEvents, row, {
    failures: row.failures + 1,
    error,
    retry_at,
    parked_at: isParked ? tx.now : null,
  });
  await finish(tx, claim, retry_at === null ? {} : { againAt: retry_at, failure: "job" });
  return isParked;
}

/**
 * Erases the errors that consumers' handlers threw at these events, because they may quote them.
 */
export async function eraseConsumerErrors(
  tx: Tx,
  erased: readonly Pick<EventRow, "id">[],
): Promise<void> {
  const anyScope = unscoped(tx);
  const all = await anyScope.list(consumers.primary, [], maxConsumers);
  const queued = await Promise.all(
    erased.flatMap(({ id }) => all.map(({ name }) => anyScope.get(consumerEventOf, [name, id]))),
  );
  for (const row of queued) if (row !== undefined) eraseError(anyScope, row);
}

/** Leaves a row without an error alone: a handler's transaction may have locked it. */
function eraseError(tx: UnscopedTx, row: Seen<ConsumerEventRow>): void {
  if (row.error !== null) tx.update(consumerEvents, row, { error: null });
}

/**
 * Erases the errors that consumers' handlers threw at events with these keys, because they may
 * quote a message that is redacted: a handler of any event can read the message. Of the events with
 * a key, only the first one can have an error, or be handled now. A call under way stores no error,
 * because its event is rewritten.
 */
export async function eraseConsumerErrorsOfKeys(tx: Tx, keys: readonly string[]): Promise<void> {
  const anyScope = unscoped(tx);
  const all = await anyScope.list(consumers.primary, [], maxConsumers);
  const first = await Promise.all(
    all.flatMap(({ name }) =>
      keys.map((key) => anyScope.list(consumerEventsOfKey, [name, key], 1)),
    ),
  );
  const rows = first.flat();
  for (const row of rows) eraseError(anyScope, row);
  const positions = [...new Set(rows.map(({ position }) => position))];
  const found = await Promise.all(positions.map((each) => anyScope.get(eventsByPosition, [each])));
  for (const event of found) if (event !== undefined) rewriteEvent(tx, event, {});
}

/**
 * Retries a parked event now, with the same number of attempts as a new one.
 * @throws TidingsError `not_found` when the event is not parked
 */
export async function resumeConsumerEvent(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<void> {
  const row = await getParkedRow(tx, consumer, event_id);
  tx.update(consumerEvents, row, { parked_at: null, failures: 0, retry_at: null });
  await arm(tx, consumeJob(row, tx.now));
}

/**
 * Discards a parked event and continues with the next event of its key.
 * @throws TidingsError `not_found` when the event is not parked
 */
export async function skipConsumerEvent(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<void> {
  const row = await getParkedRow(tx, consumer, event_id);
  tx.remove(consumerEvents, row);
  await arm(tx, consumeJob(row, tx.now));
}

async function getParkedRow(
  tx: UnscopedTx,
  consumer: string,
  event_id: string,
): Promise<Seen<ConsumerEventRow>> {
  const row = await tx.get(consumerEventOf, [consumer, event_id]);
  if (row === undefined || row.parked_at === null) throw notFound("parked event");
  return row;
}
