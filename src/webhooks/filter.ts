import { type EventType, eventTypes } from "../events/index.ts";

/**
 * The patterns of a webhook filter: all events (`*`), the events of a kind (`message.*`), or one
 * type. A pattern with `*` also matches types that are added later.
 */
export const eventPatterns: readonly string[] = [...new Set(eventTypes.flatMap(patternsOf))];

/**
 * Returns the patterns that match an event type. An index of patterns finds the webhooks by these
 * few keys, so webhooks that do not match are not read.
 */
export function patternsOf(type: EventType): string[] {
  const parts = type.split(".");
  const kinds = parts.slice(1).map((_, i) => `${parts.slice(0, i + 1).join(".")}.*`);
  return ["*", ...kinds, type];
}

/** Returns the types that a filter matches, in the order of `eventTypes`. */
export function eventTypesOf(filter: readonly string[]): EventType[] {
  return eventTypes.filter((type) => patternsOf(type).some((pattern) => filter.includes(pattern)));
}

/**
 * Returns the filter without patterns that another of its patterns covers, in the given order. At
 * most one of the remaining patterns matches any event, so a lookup by `patternsOf` returns each
 * webhook once.
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
