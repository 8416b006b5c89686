import { iso, isoOrNull } from "../../kernel/index.ts";
import { countWaiting } from "../../queue/index.ts";
import { scan, type UnscopedReads } from "../../store/index.ts";
import { eventResource, eventsByPosition } from "../rows.ts";
import type { EventType } from "../types.ts";
import { consumerLane } from "./job-orders.ts";
import { parkedEvents } from "./rows.ts";
import type { ConsumerBacklog, ParkedEvent } from "./types.ts";

/** The maximum number of parked events that are returned. */
const maxParked = 100;
/** The maximum number of parked events that are counted, and of jobs of a lane. */
const maxCounted = 1_000;

/** Returns parked events of a consumer, in the order in which they were parked. */
export async function listParked(
  reads: UnscopedReads,
  consumer: string,
): Promise<readonly ParkedEvent[]> {
  const rows = await reads.range(parkedOf(consumer, maxParked));
  const found = await reads.getAll(
    eventsByPosition,
    rows.map(({ position }) => [position] as const),
  );
  const byPosition = new Map(found.map((event) => [event.position, event]));
  return rows.map(({ event_id, account_id, mode, position, failures, error, parked_at }) => {
    const event = byPosition.get(position);
    return {
      event_id,
      event: event === undefined ? null : eventResource(event),
      account_id,
      mode,
      attempts: failures,
      error: error ?? "",
      parked_at: iso(parked_at ?? 0),
    };
  });
}

interface ConsumerProgress {
  readonly name: string;
  readonly types: readonly EventType[];
  /** The position up to which the consumer has read the log. */
  readonly position: number;
}

/** Returns what a consumer has not handled yet. */
export async function getConsumerBacklog(
  reads: UnscopedReads,
  { name, types, position }: ConsumerProgress,
  now: number,
): Promise<ConsumerBacklog> {
  const [{ due, later, running, oldestDueAt }, parked, unreadSince] = await Promise.all([
    countWaiting(reads, consumerLane(name), now, maxCounted),
    reads.range(parkedOf(name, maxCounted)),
    findUnreadSince(reads, types, position),
  ]);
  return {
    due,
    later,
    running,
    oldest_due_at: isoOrNull(oldestDueAt),
    parked: parked.length,
    unread_since: isoOrNull(unreadSince),
  };
}

/**
 * Returns when the first event after a position was created that has one of the types. If the scan
 * ends before it finds one, this is the time of the last event that it has examined.
 */
async function findUnreadSince(
  reads: UnscopedReads,
  types: readonly EventType[],
  position: number,
): Promise<number | null> {
  const { rows, more, last } = await scan(reads, {
    index: eventsByPosition,
    prefix: [],
    order: "ascending",
    after: [position],
    where: { type: types },
    limit: 1,
  });
  const [first] = rows;
  if (first !== undefined) return first.created_at;
  if (!more || last === undefined) return null;
  const [examined] = await reads.getAll(eventsByPosition, [[Number(last[0])]]);
  return examined?.created_at ?? null;
}

function parkedOf(consumer: string, limit: number) {
  return { index: parkedEvents, prefix: [consumer], order: "ascending", limit } as const;
}
