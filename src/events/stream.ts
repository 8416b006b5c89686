import { z } from "zod";
import { eventResource, eventById, type EventRow, eventsOfAccount } from "./rows.ts";
import { type AnyEvent, type EventType, eventTypeSchema } from "./types.ts";
import { invalid, reference } from "../kernel/index.ts";
import type {
  EventStream,
  Notifications,
  StreamEvent,
  StreamSources,
} from "../operations/index.ts";
import type { KeyValue } from "../ports/index.ts";
import { scan, type Reads } from "../store/index.ts";

/** Names the events of a stream. */
export interface StreamEvents {
  /** Only events of these types. Over HTTP, separated by commas. All types by default. */
  readonly types?: readonly EventType[] | undefined;
  /** Starts after this event. By default only new events are sent. */
  readonly last_event_id?: string | undefined;
}

const typeList: z.ZodType<EventType[]> = z
  .string()
  .max(1_000)
  .transform((list) => list.split(","))
  .pipe(z.array(eventTypeSchema));

export const streamEventsSchema = z.strictObject({
  types: typeList
    .optional()
    .describe("Only events of these types. Over HTTP, separated by commas. All types by default."),
  last_event_id: reference
    .optional()
    .describe("Starts after this event. By default only new events are sent."),
});

/** Rows per read. */
const pageSize = 100;

/**
 * The events of an account in commit order, after `last_event_id`. Comments are sent as
 * keep-alives.
 */
export const eventStream: EventStream<StreamEvents, AnyEvent> = {
  kind: "stream",
  name: "events.stream",
  input: () => streamEventsSchema,
  async open(sources, { types, last_event_id }, _call, signal) {
    const from = await positionOf(sources.reads, last_event_id);
    const next = eventsAfter(sources.reads, types, from);
    return follow({ ...sources, notifications: sources.notifications(), next }, signal);
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
    "This event no longer exists. List the missed events, then open the stream without " +
    "this id.";
  throw invalid([{ pointer: "/last_event_id", code: "unknown_event", message }]);
}

/**
 * Returns a function that reads the next batch after `from`, and on each further call the batch
 * after that.
 */
function eventsAfter(
  reads: Reads,
  types: readonly EventType[] | undefined,
  from: number,
): () => Promise<StreamBatch<AnyEvent>> {
  let after: readonly KeyValue[] = [from];
  return async () => {
    const { rows, more, last } = await scan<EventRow>(reads, {
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
      value: eventResource(row),
    }));
    return { events, more };
  };
}

/** Events that can be sent now. */
export interface StreamBatch<Item> {
  readonly events: readonly StreamEvent<Item>[];
  /** Whether more events may follow at once. */
  readonly more: boolean;
}

interface Following<Item> extends Pick<StreamSources, "now" | "mayContinue" | "yieldToEventLoop"> {
  readonly notifications: Notifications;
  /** Reads the next batch; `undefined` when the stream has ended. */
  readonly next: () => Promise<StreamBatch<Item> | undefined>;
  /** The latest end of the stream, in milliseconds since the epoch. */
  readonly endsAt?: number;
}

/**
 * The keep-alive interval. Keep-alives stop proxies from closing a quiet stream, and detect clients
 * that have disconnected.
 */
const quietMs = 15_000;

/**
 * Yields events as they are committed, until `signal` aborts. A slow reader slows down the reads:
 * nothing is buffered except the current batch.
 */
export async function* follow<Item>(
  {
    notifications: { signal: fresh, isOver, leave },
    now,
    mayContinue,
    yieldToEventLoop,
    next,
    endsAt = Infinity,
  }: Following<Item>,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent<Item>> {
  let quietSince = now();
  try {
    while (!signal.aborted) {
      // Lowered before the reads, so that a commit during the reads raises it again.
      fresh.lower();
      const batch = !isOver() && (await mayContinue()) ? await next() : undefined;
      if (batch === undefined) return;
      for (const event of batch.events) {
        if (signal.aborted) return;
        yield event;
        quietSince = now();
      }
      if (batch.more) {
        // Reads that skip many events may never wait, so let the event loop run other work.
        await yieldToEventLoop();
        continue;
      }
      // Notifications without events for this stream do not delay the keep-alive. The limits
      // protect against a clock that was set back.
      const quiet = Math.max(0, now() - quietSince);
      await fresh.wait(Math.max(0, Math.min(quietMs - quiet, endsAt - now())));
      if (signal.aborted || Math.abs(now() - quietSince) < quietMs) continue;
      yield { comment: "" };
      quietSince = now();
    }
  } catch (error) {
    // When the engine stops, it closes the storage while streams still read.
    if (await mayContinue()) throw error;
  } finally {
    leave();
  }
}
