import * as z from "zod";
import { adviceForType, type EventType, eventTypes } from "../events/index.ts";
import { show } from "../kernel/index.ts";

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
export const eventPatternSchema = z.enum(eventPatterns, { error: wrongPattern }).meta({
  id: "EventPattern",
  description: "All events (`*`), all events of a kind (`message.*`), or one event type.",
});

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
  let patterns = knownPatterns.get(type);
  if (patterns === undefined) {
    const parts = type.split(".");
    const kinds = parts.slice(1).map((_, i) => parts.slice(0, i + 1).join("."));
    // The compiler does not see that `kinds` are the kinds of the type.
    patterns = ["*", ...kinds.map((kind) => `${kind as KindOf<EventType>}.*` as const), type];
    knownPatterns.set(type, patterns);
  }
  return patterns;
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

/**
 * Headers that the engine or the HTTP client sets. A custom value could forge or contradict them.
 */
const reserved = new Set([
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const reservedPrefixes = ["webhook-", "proxy-"];

export const headerLimits = { count: 20, name: 100, value: 1_024, total: 8_192 } as const;

/** A token of RFC 9110, 5.6.2. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/**
 * Visible ASCII with spaces or tabs inside. Line breaks and control characters could be read
 * differently by the client and the receiver.
 */
const text = /^[!-~](?:[\t -~]*[!-~])?$/;

interface HeaderProblem {
  /** The name of the header. Undefined when the problem concerns all headers. */
  readonly name?: string;
  readonly code:
    "too_many" | "too_long" | "invalid_name" | "invalid_value" | "reserved" | "duplicate";
  readonly message: string;
}

/** Returns the problems of the custom headers of a webhook. */
export function headerProblems(headers: Readonly<Record<string, string>>): HeaderProblem[] {
  const entries = Object.entries(headers);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (entries.length > headerLimits.count) {
    return [{ code: "too_many", message: `Expected at most ${headerLimits.count} headers.` }];
  }
  if (total > headerLimits.total) {
    return [
      {
        code: "too_long",
        message: `Expected names and values of at most ${headerLimits.total} characters in total.`,
      },
    ];
  }
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const problem = problemOf(name, value, seen);
    seen.add(name.toLowerCase());
    return problem === undefined ? [] : [{ name, ...problem }];
  });
}

function problemOf(
  name: string,
  value: string,
  seen: ReadonlySet<string>,
): Omit<HeaderProblem, "name"> | undefined {
  const lower = name.toLowerCase();
  if (!token.test(name)) {
    return {
      code: "invalid_name",
      message: "Expected a header name of letters, digits and dashes.",
    };
  }
  if (name.length > headerLimits.name || value.length > headerLimits.value) {
    return {
      code: "too_long",
      message:
        `Expected at most ${headerLimits.name} characters in the name and ${headerLimits.value} ` +
        "in the value.",
    };
  }
  if (reserved.has(lower) || reservedPrefixes.some((each) => lower.startsWith(each))) {
    return { code: "reserved", message: "This header is reserved for the engine. Remove it." };
  }
  if (seen.has(lower)) {
    return {
      code: "duplicate",
      message: "This header is given twice. Header names are case-insensitive.",
    };
  }
  if (!text.test(value)) {
    return {
      code: "invalid_value",
      message: "Expected visible ASCII characters, with spaces only between them.",
    };
  }
  return undefined;
}
