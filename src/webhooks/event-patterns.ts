import * as z from "zod";
import { adviceForType, eventTypes, type EventType } from "../events/index.ts";
import { getOrInsert, show } from "../kernel/index.ts";

/** The kinds of a type: `agent` and `agent.run` for `agent.run.completed`. */
type KindOf<T extends string> = T extends `${infer First}.${infer Rest}`
  ? First | `${First}.${KindOf<Rest>}`
  : never;

/** All events (`*`), all events of a kind (`message.*`), or one event type. */
export type EventPattern = "*" | `${KindOf<EventType>}.*` | EventType;

/** Each event asks for the patterns of its type, and there are few types. */
const knownPatterns = new Map<EventType, readonly EventPattern[]>();

/** A pattern with `*` also matches types that are added later. */
export const eventPatterns: readonly EventPattern[] = [...new Set(eventTypes.flatMap(patternsOf))];
export const eventPatternSchema = z
  .enum(eventPatterns, { error: wrongPattern })
  .meta({ id: "EventPattern" });

/** Makes the error of a field. A missing field has the standard error. */
function wrongPattern({ input }: { readonly input?: unknown }): string | undefined {
  if (input === undefined) return undefined;
  const advice = adviceForType(input, eventPatterns);
  const known = `. The patterns are ${eventPatterns.join(", ")}.`;
  return `must be an event type or a pattern, got ${show(input)}${advice || known}`;
}

/**
 * Returns the patterns that match an event type. An index of patterns finds the webhooks of an
 * account with many of them by these few keys, so webhooks that do not match are not read.
 */
export function patternsOf(type: EventType): readonly EventPattern[] {
  return getOrInsert(knownPatterns, type, () => {
    const parts = type.split(".");
    const kinds = parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
    // The compiler does not see that `kinds` are the kinds of the type.
    return ["*", ...kinds.map((kind) => `${kind as KindOf<EventType>}.*` as const), type];
  });
}

/** Returns the types that a filter matches, in the order of `eventTypes`. */
export function eventTypesOf(filter: readonly EventPattern[]): EventType[] {
  return eventTypes.filter((type) => patternsOf(type).some((pattern) => filter.includes(pattern)));
}

/**
 * Returns the filter without patterns that another of its patterns covers, in the given order. At
 * most one of the remaining patterns matches any event, so a lookup by `patternsOf` returns each
 * webhook once.
 */
export function withoutCovered<Pattern extends string>(filter: readonly Pattern[]): Pattern[] {
  const patterns = [...new Set(filter)];
  return patterns.filter(
    (pattern) => !patterns.some((other) => other !== pattern && covers(other, pattern)),
  );
}

function covers(wide: string, narrow: string): boolean {
  return wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1));
}
