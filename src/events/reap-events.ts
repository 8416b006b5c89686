import type { EventId } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { background, reread, type UnscopedReads } from "../store/index.ts";
import {
  consumerByName,
  consumerEventOf,
  maxConsumers,
  type ConsumerRow,
} from "./consumers/rows.ts";
import { events, eventsByPosition, type EventRow } from "./rows.ts";

/** Returns which of these events other rows refer to, such as deliveries. */
type FindReferenced = (
  reads: UnscopedReads,
  ids: readonly EventId[],
) => Promise<readonly EventId[]>;

/**
 * Removes old events in the order of their positions, one chunk per call. Events that a consumer
 * has not read or not handled are kept whatever their age, and so are events that have deliveries.
 * Each call returns the number of old events that it processed.
 */
export function eventReaper(
  { store, clock, logger, services: { eventsKeptMs } }: Runtime,
  findReferenced: FindReferenced,
  chunk: number,
): () => Promise<number> {
  const reads = store.unscopedReads;
  let processed = 0;
  return async () => {
    // Read before `findRemovable` reads the events that are queued for them. What a consumer queues
    // in between is beyond the position that was read here, so it is not removed.
    const consumers = await reads.range({
      index: consumerByName,
      prefix: [],
      order: "ascending",
      limit: maxConsumers,
    });
    const oldest = await reads.range({
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after: [processed],
      limit: chunk,
    });
    const expired = oldest.filter(({ created_at }) => created_at < clock.now() - eventsKeptMs);
    const [slowest] = consumers.toSorted((a, b) => a.position - b.position);
    const readByAll = slowest?.position ?? Infinity;
    const passed = expired.filter(({ position }) => position <= readByAll);
    if (passed.length < expired.length) {
      logger.warn(
        { consumer: slowest?.name },
        "events are kept past their retention time because a consumer has not read them",
      );
    }
    processed = passed.at(-1)?.position ?? processed;
    const removable = await findRemovable(reads, passed, consumers, findReferenced);
    await store.commitUnscoped(async (tx) => {
      for (const row of await reread(tx, eventsByPosition, removable)) tx.remove(events, row);
    }, background);
    return passed.length;
  };
}

/** Returns the events that no consumer still has to handle and to which no other row refers. */
async function findRemovable(
  reads: UnscopedReads,
  passed: readonly Seen<EventRow>[],
  consumers: readonly ConsumerRow[],
  findReferenced: FindReferenced,
): Promise<readonly Seen<EventRow>[]> {
  const ids = passed.map(({ id }) => id);
  const needed = new Set(await findReferenced(reads, ids));
  for (const { name } of consumers) {
    const keys = ids.map((id) => [name, id] as const);
    for (const { event_id } of await reads.getAll(consumerEventOf, keys)) needed.add(event_id);
  }
  return passed.filter(({ id }) => !needed.has(id));
}
