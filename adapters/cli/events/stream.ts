/** The events that a command is asked for: their types, and the stream of them. */
import type { AccountHandle, Event, EventType } from "../../entry.ts";
import { adviceForType, eventTypes } from "../../../src/events/index.ts";
import { UsageError } from "../failures.ts";

export const typeUsage: readonly string[] = [
  "  --type TYPE       only events of this type; repeat it for several",
];
/** The option that names types of events. */
export const typeOptions = { type: { type: "string", multiple: true } } as const;

/**
 * Reads the values of `--type`.
 * @throws UsageError when there is no such type
 */
export function typesOf(given: readonly string[] | undefined, usage: string): EventType[] {
  return (given ?? []).map((name) => {
    const type = eventTypes.find((each) => each === name);
    if (type !== undefined) return type;
    const advice = adviceForType(name, eventTypes).replaceAll('"', "");
    throw new UsageError(`There is no event type "${name}"${advice || "."}`, usage);
  });
}

/**
 * Opens a stream of new events. It ends when `signal` aborts. If the engine ends it before, it is
 * opened again after its last event.
 */
export async function openStream(
  { events }: AccountHandle,
  types: readonly EventType[],
  signal: AbortSignal,
): Promise<AsyncIterable<Event>> {
  const filter = types.length === 0 ? {} : { types };
  const first = await events.stream(filter, { signal });
  return goOn(first, async (last_event_id) =>
    signal.aborted ? undefined : events.stream({ ...filter, last_event_id }, { signal }),
  );
}

async function* goOn(
  first: AsyncIterable<Event>,
  openAfter: (id: string) => Promise<AsyncIterable<Event> | undefined>,
): AsyncGenerator<Event, void> {
  let stream: AsyncIterable<Event> | undefined = first;
  while (stream !== undefined) {
    let last: string | undefined;
    for await (const event of stream) {
      yield event;
      last = event.id;
    }
    stream = last === undefined ? undefined : await openAfter(last);
  }
}
