import type { EventId } from "../kernel/index.ts";
import { consumerByName, consumerEventOf, maxConsumers } from "./consumer-rows.ts";
import { type EventRow, events, eventsByPosition } from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Runtime } from "../operations/index.ts";
import { background, reread, type Store, type UnscopedReads } from "../store/index.ts";

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
  let after = 0;
  const isOld = ({ created_at }: EventRow): boolean => created_at < clock.now() - eventsKeptMs;
  return async () => {
    // Read before the rows of consumers. An event that a consumer reads after this point is above
    // the position read here.
    const all = {
      index: consumerByName,
      prefix: [],
      order: "ascending",
      limit: maxConsumers,
    } as const;
    const consumers = await store.unscopedReads.range(all);
    const [last] = consumers.toSorted((a, b) => a.position - b.position);
    const range = {
      index: eventsByPosition,
      prefix: [],
      order: "ascending",
      after: [after],
      limit: chunk,
    } as const;
    const oldest = await store.unscopedReads.range(range);
    const expired = oldest.filter(isOld);
    const passed =
      last === undefined ? expired : expired.filter(({ position }) => position <= last.position);
    if (passed.length < expired.length) {
      logger.warn(
        { consumer: last?.name },
        "events are kept past their retention time because a consumer has not read them",
      );
    }
    after = passed.at(-1)?.position ?? after;
    const names = consumers.map(({ name }) => name);
    const removable = await findRemovable(store, findReferenced, passed, names);
    await store.commitUnscoped(async (tx) => {
      for (const row of await reread(tx, eventsByPosition, removable)) tx.remove(events, row);
    }, background);
    return passed.length;
  };
}

/** Returns the events that no consumer still has to handle and that have no delivery. */
async function findRemovable(
  { unscopedReads: reads }: Store,
  findReferenced: FindReferenced,
  passed: readonly Seen<EventRow>[],
  names: readonly string[],
): Promise<readonly Seen<EventRow>[]> {
  const held = new Set<string>(
    await findReferenced(
      reads,
      passed.map(({ id }) => id),
    ),
  );
  for (const name of names) {
    const rows = await reads.getAll(
      consumerEventOf,
      passed.map(({ id }) => [name, id] as const),
    );
    for (const { event_id } of rows) held.add(event_id);
  }
  return passed.filter(({ id }) => !held.has(id));
}
