import { type EventType, eventTypes } from "../events/index.ts";

/**
 * What a webhook may ask for: all events (`*`), those of a kind (`message.*`, `agent.*`), or one type by its name. A pattern also
 * takes types that come to be later.
 */
export const eventPatterns: readonly string[] = [...new Set(eventTypes.flatMap(patternsOf))];

/**
 * The patterns that take an event of that type. Webhooks are found by these few keys in an index of their patterns, however many there
 * are that ask for other events.
 */
export function patternsOf(type: EventType): string[] {
  const parts = type.split(".");
  const kinds = parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join(".")}.*`);
  return ["*", ...kinds, type];
}

/** The types that a filter takes, in the order in which they are listed. */
export function typesOf(filter: readonly string[]): EventType[] {
  return eventTypes.filter((type) => patternsOf(type).some((pattern) => filter.includes(pattern)));
}

/**
 * A filter without what others of its patterns say already, in the order given. No event is then taken by two of its patterns, so a
 * look-up by `patternsOf` finds a webhook once.
 */
export function withoutCovered(filter: readonly string[]): string[] {
  const patterns = [...new Set(filter)];
  return patterns.filter(
    (pattern) => !patterns.some((other) => other !== pattern && covers(other, pattern)),
  );
}

function covers(wide: string, narrow: string): boolean {
  return wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1));
}
