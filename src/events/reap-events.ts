import { consumerByName, consumerEventOf } from "./consumer-rows.ts";
import { eventsByPosition, type EventRow, events } from "./rows.ts";
import { deliveriesOfEvent } from "../webhooks/rows.ts";
import type { Logger } from "../ports/logger.ts";
import type { Clock } from "../ports/clock.ts";
import type { Seen } from "../ports/collection.ts";
import type { Store } from "../store/store.ts";

export interface ReapEvents {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long events are kept, in milliseconds. */
  readonly eventMs: number;
}

const own = { own: true } as const;
/** More consumers than anybody has. */
const mostConsumers = 1_000;

/**
 * Removes events in the order of their positions, up to the first that is to be kept, a chunk at each call. What a consumer has not
 * come to yet is kept however old it is, as is what it has yet to handle, and what there are deliveries of. Each call answers how many rows
 * it looked at.
 */
export function eventReaper(
  { store, clock, logger, eventMs }: ReapEvents,
  chunk: number,
): () => Promise<number> {
  let after = 0;
  const isOld = ({ created_at }: EventRow): boolean => created_at < clock.now() - eventMs;
  return async () => {
    // Read before what is held: what a consumer has come to since is among that.
    const all = {
      index: consumerByName,
      prefix: [],
      order: "ascending",
      limit: mostConsumers,
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
        "events are kept past their time for a consumer that has not come to them",
      );
    }
    after = passed.at(-1)?.position ?? after;
    const names = consumers.map(({ name }) => name);
    const free = await notHeld(store, passed, names);
    await store.commitUnscoped(async (tx) => {
      for (const { position } of free) {
        const row = await tx.get(eventsByPosition, [position]);
        if (row !== undefined) tx.remove(events, row);
      }
    }, own);
    return passed.length;
  };
}

/** Those that no consumer has yet to handle, and that no delivery tells of. */
async function notHeld(
  { unscopedReads: reads }: Store,
  passed: readonly Seen<EventRow>[],
  names: readonly string[],
): Promise<readonly Seen<EventRow>[]> {
  const ids = passed.map(({ id }) => [id]);
  const told = await reads.lists(deliveriesOfEvent, ids, 1);
  const held = new Set<string>(told.flat().map(({ event_id }) => event_id));
  for (const name of names) {
    const rows = await reads.getAll(
      consumerEventOf,
      passed.map(({ id }) => [name, id] as const),
    );
    for (const { event_id } of rows) held.add(event_id);
  }
  return passed.filter(({ id }) => !held.has(id));
}
