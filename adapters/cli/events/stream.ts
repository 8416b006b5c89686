/** The events that a command is asked for: their types, and the stream of them. */
import { adviceForType, eventTypes } from "../../../src/events/index.ts";
import type { AccountHandle, Event, EventType } from "../../entry.ts";
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

/** Opens a stream of new events. It ends when `signal` aborts. */
export function openStream(
  { events }: AccountHandle,
  types: readonly EventType[],
  signal: AbortSignal,
): Promise<AsyncIterable<Event>> {
  return events.stream(types.length === 0 ? {} : { types }, { signal });
}
