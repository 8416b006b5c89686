import { z } from "zod";
import { eventResource } from "./resource.ts";
import { eventById, type EventRow, eventsOfAccount } from "./rows.ts";
import { type EventType, eventTypeSchema } from "./types.ts";
import { invalid, reference } from "../kernel/index.ts";
import type { EventStream } from "../operations/index.ts";
import type { KeyValue } from "../ports/index.ts";
import { look, type Reads } from "../store/index.ts";
import { follow, type Told } from "./follow.ts";

export const streamEventsSchema = z.strictObject({
  types: z
    .string()
    .max(1_000)
    .transform((list) => list.split(","))
    .pipe(z.array(eventTypeSchema))
    .optional()
    .meta({ description: "Types of events, separated by commas. By default all." }),
  last_event_id: reference
    .optional()
    .meta({ description: "Goes on after this event. By default only what is new." }),
});
export interface StreamEvents extends z.infer<typeof streamEventsSchema> {}

/** Rows read at once. */
const pageSize = 100;

/** An account's events in commit order, after `last_event_id`. Each is sent as it is stored; comments are signs of life. */
export const eventStream: EventStream<StreamEvents> = {
  kind: "stream",
  name: "events.stream",
  input: () => streamEventsSchema,
  async open(sources, { types, last_event_id }, _call, signal) {
    const from = await positionOf(sources.reads, last_event_id);
    const next = eventsAfter(sources.reads, types, from);
    return follow({ ...sources, news: sources.news(), next }, signal);
  },
};

async function positionOf(reads: Reads, last_event_id: string | undefined): Promise<number> {
  if (last_event_id === undefined) {
    const [last] = await reads.range({
      index: eventsOfAccount,
      prefix: [],
      order: "descending",
      limit: 1,
    });
    return last?.position ?? 0;
  }
  const last = await reads.get(eventById, [last_event_id]);
  if (last !== undefined) return last.position;
  const message =
    "This event is not known any more: read what was missed from /v1/events, and begin anew.";
  throw invalid([{ header: "Last-Event-ID", code: "unknown_event", message }]);
}

/** Answers what comes after `from`, and each time what comes after that. */
function eventsAfter(
  reads: Reads,
  types: readonly EventType[] | undefined,
  from: number,
): () => Promise<Told> {
  let after: readonly KeyValue[] = [from];
  return async () => {
    const { rows, more, last } = await look<EventRow>(reads, {
      index: eventsOfAccount,
      prefix: [],
      order: "ascending",
      after,
      ...(types === undefined ? {} : { where: { type: types } }),
      limit: pageSize,
    });
    after = last ?? after;
    const events = rows.map((row) => ({
      id: row.id,
      event: row.type,
      data: JSON.stringify(eventResource(row)),
    }));
    return { events, more };
  };
}
