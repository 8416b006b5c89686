/** What a scripted receiver does with the requests that webhooks send. */
import { memberOf } from "../../../src/kernel/index.ts";
import type { Event } from "../../entry.ts";
import { stepFor } from "../scripts/rules.ts";

/** The receiver takes the request and responds. */
export interface AnsweredRequest {
  /** The receiver takes the request and responds. */
  readonly outcome: "answered";
  /**
   * The HTTP status.
   * @default 200
   */
  readonly status?: number | undefined;
  /** The value of `Retry-After`, in seconds. Default: there is none. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Further headers of the response, by lower-case name, such as a `retry-after` with a date.
   * @default {}
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The body of the response.
   * @default ""
   */
  readonly body?: string | undefined;
  /**
   * How long the response takes, in milliseconds.
   * @default 100
   */
  readonly afterMs?: number | undefined;
}

/** The receiver takes the event, but its response is lost. */
export interface LostResponse {
  /** The receiver takes the event, but its response is lost. */
  readonly outcome: "answer_lost";
  /**
   * How long it takes until the connection breaks, in milliseconds.
   * @default 100
   */
  readonly afterMs?: number | undefined;
}

/** The receiver gets the request and never responds. */
export interface HangingReceiver {
  /** The receiver gets the request and never responds. */
  readonly outcome: "hangs";
}

/** Nobody is there: the connection is refused. */
export interface UnreachableReceiver {
  /** Nobody is there: the connection is refused. */
  readonly outcome: "unreachable";
}

/** What happens to one request. */
export type ReceiverOutcome =
  AnsweredRequest | LostResponse | HangingReceiver | UnreachableReceiver;

/** An outcome, the HTTP status of a response, or the name of another outcome. */
export type ScriptedResponse =
  ReceiverOutcome | Exclude<ReceiverOutcome["outcome"], "answered"> | number;

/** What happens to the requests that match. A rule without conditions matches every request. */
export interface ReceiverRule {
  /** The URL of the webhook. */
  readonly url?: string | undefined;
  /** The type of the event, such as `message.sent`, or a pattern, such as `message.*`. */
  readonly event?: string | undefined;
  /** What happens to the first request with an event, the second, and so on. The last repeats. */
  readonly attempts: readonly [ScriptedResponse, ...ScriptedResponse[]];
}

/** Rules or a function. The first rule that matches decides. Undefined means status 200. */
export type ReceiverScript =
  readonly ReceiverRule[] | ((request: RequestAtReceiver) => ScriptedResponse | undefined);

/** A request as a receiver gets it. */
export interface RequestAtReceiver {
  /** The URL of the webhook. */
  readonly url: string;
  /** The event. */
  readonly event: Event;
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, as it was sent. */
  readonly body: string;
  /**
   * `valid`: it was signed with a secret that the receiver trusts, at most 5 minutes ago.
   * `invalid`: it was not. `unknown`: the receiver trusts no secret of this URL.
   */
  readonly signature: "valid" | "invalid" | "unknown";
  /** 1 for the first request with this event to this URL. */
  readonly number: number;
  /** When the engine made it, by the engine's clock, in milliseconds since the epoch. */
  readonly started_at: number;
  /** When the engine made it, in milliseconds since the epoch by the world's clock. */
  readonly at: number;
  /** The engine that made it. Empty outside of a world. */
  readonly engine: string;
}

/** A request of an engine to a webhook, as the receiver recorded it. */
export interface WebhookRequest extends RequestAtReceiver {
  /**
   * The outcome, as the engine sees it. A response that comes too late is lost. Null while the
   * request is under way.
   */
  readonly outcome: ReceiverOutcome["outcome"] | null;
  /** The status that the receiver responded with. Null if it has not responded. */
  readonly status: number | null;
  /**
   * When the request ended, in milliseconds since the epoch by the world's clock. Null while it is
   * under way.
   */
  readonly ended_at: number | null;
  /**
   * How long the request took, in milliseconds. Steps of the clock do not count. Null while it is
   * under way.
   */
  readonly duration_ms: number | null;
  /** Whether the engine crashed or gave up before the request ended. */
  readonly abandoned: boolean;
}

/** What the script says about a request. */
export function responseOf(script: ReceiverScript, request: RequestAtReceiver): ReceiverOutcome {
  const chosen = stepFor(script, request, { matches, stepsOf: ({ attempts }) => attempts });
  if (chosen === undefined) return { outcome: "answered" };
  if (typeof chosen === "number") return { outcome: "answered", status: chosen };
  return typeof chosen === "string" ? { outcome: chosen } : chosen;
}

function matches({ url, event: pattern }: ReceiverRule, request: RequestAtReceiver): boolean {
  if (url !== undefined && url !== request.url) return false;
  return pattern === undefined || matchesPattern(pattern, request.event.type);
}

/** Whether a pattern matches an event type. Independent of the engine's rule, which it judges. */
export function matchesPattern(pattern: string, type: string): boolean {
  if (pattern === "*" || pattern === type) return true;
  return pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
}

/** The event in the body of a request. Undefined if there is none. */
export function eventIn(body: string): Event | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const isEvent =
      typeof memberOf(parsed, "id") === "string" &&
      typeof memberOf(parsed, "type") === "string" &&
      typeof memberOf(parsed, "data") === "object";
    // Only what makes it an event is checked. Laws and tests judge the rest.
    return isEvent ? (parsed as Event) : undefined;
  } catch {
    return undefined;
  }
}
