import * as z from "zod";
import { filterById, invalid, isId, queryBoolean, reference, show } from "../../kernel/index.ts";
import type {
  EventStream,
  LiveItem,
  LiveSubscription,
  StreamFilter,
  StreamItem,
  StreamSources,
  TransientItem,
  TypingSignal,
} from "../../operations/index.ts";
import { scan, type Reads, type Scan } from "../../store/index.ts";
import { eventById, eventResource, eventsOfAccount, type EventRow } from "../rows.ts";
import { eventTypeSchema, type EventEnvelope, type EventType } from "../types.ts";
import { newestPosition } from "./event-feed.ts";
import { follow, type StreamBatch } from "./follow.ts";

/** Names the events of a stream. */
export interface StreamEvents {
  /**
   * Only events of these types, at most 50. Over HTTP, separated by commas. By default all types.
   */
  readonly types?: readonly EventType[] | undefined;
  /** Only events of this conversation. */
  readonly conversation_id?: string | undefined;
  /** Starts after this event. By default only new events are sent. */
  readonly last_event_id?: string | undefined;
}

/** The query parameters of a stream of events over HTTP. */
export interface StreamQuery extends StreamEvents {
  /**
   * Also reports who is typing on webchat, in events of the type `typing` without an id. Their
   * `data` is `{ conversation_id, author }`. Default: false.
   */
  readonly typing?: boolean | undefined;
}

const maxTypes = 50;

const split = (list: string): readonly string[] => [...new Set(list.split(","))];

/**
 * A parameter that is given twice is a list, which is no event type. A type that is in a list twice
 * counts once, so that a wrong one has one error.
 */
const typeList: z.ZodType<EventType[]> = z.preprocess(
  (list) => (typeof list !== "string" ? [list] : list === "" ? [] : split(list)),
  z.array(eventTypeSchema).min(1).max(maxTypes),
);

export const streamEventsSchema = z
  .strictObject({
    types: typeList.optional(),
    conversation_id: filterById("conversation").optional(),
    last_event_id: reference.optional(),
    typing: queryBoolean.optional(),
  })
  .meta({ interface: "StreamQuery" });

/** Rows per read. */
const pageSize = 100;

/**
 * The events of an account in commit order, after `last_event_id`. Comments are sent as
 * keep-alives.
 */
export const eventStream: EventStream<StreamQuery, EventEnvelope> = {
  kind: "stream",
  name: "events.stream",
  input: () => streamEventsSchema,
  async open(sources, { last_event_id, typing, ...filter }, { services }) {
    const place = await sources.join();
    const wake = (): void => place.flag.raise();
    try {
      const from = await startOf(sources, last_event_id, services.eventsKeptMs);
      const reader = new EventReader(sources, filter, from, wake);
      const { conversation_id } = filter;
      const signals = typing === true ? sources.listen({ conversation_id }, wake) : undefined;
      const next = async (): Promise<StreamBatch<EventEnvelope>> => {
        const { events, more } = await reader.next();
        // A message ends its author's typing, so it comes after.
        return { events: [...(signals?.take().map(typingItem) ?? []), ...events], more };
      };
      const close = (): void => {
        signals?.leave();
        reader.close();
      };
      return follow({ ...sources, place, next, close });
    } catch (error) {
      place.leave();
      throw error;
    }
  },
};

/** Who is typing, as the streams of an account show it. */
export function typingItem({ conversation_id, author }: TypingSignal): TransientItem {
  return { event: "typing", transient: { conversation_id, author } };
}

/** Returns the position after which a stream begins. */
async function startOf(
  { reads, now }: Pick<StreamSources, "reads" | "now">,
  last_event_id: string | undefined,
  keptMs: number,
): Promise<number> {
  if (last_event_id === undefined) return newestPosition(reads);
  const last = await reads.get(eventById, [last_event_id]);
  // An old event may still exist because a consumer has not handled it. Later ones may be gone.
  if (last !== undefined && last.created_at >= now() - keptMs) return positionOf(reads, last);
  const pointer = "/last_event_id";
  if (!isId("evt", last_event_id)) {
    const message = `must be the id of an event, got ${show(last_event_id)}`;
    throw invalid([{ pointer, code: "invalid", message }]);
  }
  const message =
    "This event is too old or no longer kept. Open the stream without last_event_id, then list " +
    "the events that you missed.";
  throw invalid([{ pointer, code: "unknown_event", message }]);
}

/**
 * Returns the position of an event. If a transaction of the host application wrote it, its position
 * may be negative until a reader reaches the end of the log.
 */
async function positionOf(reads: Reads, { id, position }: EventRow): Promise<number> {
  if (position > 0) return position;
  const newest = await newestPosition(reads);
  const reread = await reads.get(eventById, [id]);
  return reread !== undefined && reread.position > 0 ? reread.position : newest;
}

/**
 * Returns the events of a stream in order. It reads the log itself until it has caught up. From
 * then on it takes the events that the process passes on to all its streams. A stream that is too
 * slow for that reads the log again, so memory is bounded.
 */
class EventReader {
  readonly #sources: Pick<StreamSources, "reads" | "subscribe">;
  readonly #filter: StreamFilter;
  readonly #wake: () => void;
  #after: number;
  #live: LiveSubscription | undefined;

  constructor(
    sources: Pick<StreamSources, "reads" | "subscribe">,
    filter: StreamFilter,
    from: number,
    wake: () => void,
  ) {
    this.#sources = sources;
    this.#filter = filter;
    this.#after = from;
    this.#wake = wake;
  }

  async next(): Promise<StreamBatch<EventEnvelope>> {
    if (this.#live !== undefined && this.#after >= this.#live.position) {
      const taken = this.#live.take();
      if (taken !== undefined) return { events: this.#unread(taken), more: false };
      this.close();
    }
    const { rows, more, last } = await this.#read();
    this.#after = Number(last?.[0] ?? this.#after);
    if (!more && this.#live !== undefined) {
      // The subscription has every later event.
      this.#after = Math.max(this.#after, this.#live.position);
    } else if (!more) {
      // Events that were committed before the subscription began are read once more.
      this.#live = await this.#sources.subscribe(this.#filter, this.#wake);
    }
    const events = rows.map((row) => ({ id: row.id, event: row.type, value: eventResource(row) }));
    return { events, more: true };
  }

  close(): void {
    this.#live?.leave();
    this.#live = undefined;
  }

  /** Leaves out the events that the reader found in the log. */
  #unread(taken: readonly LiveItem[]): StreamItem<EventEnvelope>[] {
    const fresh = taken.filter(({ position }) => position > this.#after);
    this.#after = fresh.at(-1)?.position ?? this.#after;
    // The cast is safe: the feed makes its items with `eventResource`.
    return fresh.map(({ item }) => item as StreamItem<EventEnvelope>);
  }

  #read(): Promise<Scan<EventRow>> {
    const { types, conversation_id } = this.#filter;
    return scan<EventRow>(this.#sources.reads, {
      index: eventsOfAccount,
      prefix: [],
      order: "ascending",
      after: [this.#after],
      where: {
        ...(types === undefined ? {} : { type: types }),
        ...(conversation_id === undefined ? {} : { conversation_id }),
      },
      limit: pageSize,
    });
  }
}
