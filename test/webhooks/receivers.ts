/**
 * The receivers of an engine's webhooks: a scripted receiver whose script has a function for each
 * URL, and which counts the requests that are under way. What concerns connections, such as broken
 * ones and slow ones, is tested over real sockets in `sockets.test.ts`.
 */
import { Webhook as Verifier } from "standardwebhooks";
import { scriptedReceiver, type VirtualClock } from "../../adapters/testing/index.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../src/ports/http-client.ts";

/** A request as a receiver saw it. */
export interface ReceivedRequest {
  readonly url: string;
  readonly at: number;
  /** The time on a clock that never jumps. */
  readonly elapsed: number;
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How long its answer takes, in milliseconds. */
  after: number;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long it takes, in milliseconds; Infinity: it never answers. */
  readonly after?: number;
}

/** Returns the receiver's answer to its nth request, from 0. */
export type Behavior = (request: ReceivedRequest, n: number) => Answer;

export interface Receivers {
  readonly client: HttpClient;
  readonly seen: ReceivedRequest[];
  /** The maximum and the current number of concurrent requests by URL. */
  readonly busiest: ReadonlyMap<string, number>;
  readonly busy: ReadonlyMap<string, number>;
  /** Requests that arrived during a request of the same event to the same URL. */
  readonly overlaps: ReceivedRequest[];
  at(url: string, behavior: Behavior): void;
}

/** The default of the option `webhooks.deadlineSeconds`. */
const deadlineMs = 15_000;

/** `setOn` returns the sum of all jumps of the clock. */
export function receivers(clock: VirtualClock, setOn: () => number = () => 0): Receivers {
  const seen: ReceivedRequest[] = [];
  const behaviors = new Map<string, Behavior>();
  const counts = new Map<string, number>();
  const busy = new Map<string, number>();
  const busiest = new Map<string, number>();
  /** The number of requests by URL and event. */
  const underWay = new Map<string, number>();
  const add = (name: string, change: 1 | -1): void =>
    void underWay.set(name, (underWay.get(name) ?? 0) + change);
  const overlaps: ReceivedRequest[] = [];

  const receiver = scriptedReceiver({
    script({ url, event: { id }, at, body, headers }) {
      const request = { url, at, elapsed: at - setOn(), id, body, headers, after: 0 };
      seen.push(request);
      if (underWay.get(`${url} ${id}`) !== 1) overlaps.push(request);
      const n = counts.get(url) ?? 0;
      counts.set(url, n + 1);
      const { after = 5, ...response } = behaviors.get(url)?.(request, n) ?? {};
      request.after = Math.min(after, deadlineMs);
      return { outcome: "answered", ...response, afterMs: after };
    },
  });
  const { send: post } = receiver.client(clock);

  async function send(request: HttpRequest): Promise<HttpOutcome> {
    const { url, headers } = request;
    const name = `${url} ${headers["webhook-id"]}`;
    const now = (busy.get(url) ?? 0) + 1;
    busy.set(url, now);
    busiest.set(url, Math.max(busiest.get(url) ?? 0, now));
    add(name, 1);
    const outcome = await post(request);
    add(name, -1);
    busy.set(url, (busy.get(url) ?? 1) - 1);
    return outcome;
  }

  return {
    client: { send, close() {} },
    seen,
    busiest,
    busy,
    overlaps,
    at: (url, behavior) => void behaviors.set(url, behavior),
  };
}

/** Whether the public library accepts the signature. The age is not checked. */
export function isGenuine({ body, headers }: ReceivedRequest, secret: string): boolean {
  const verifier = new Verifier(secret);
  const id = headers["webhook-id"] ?? "";
  const seconds = Number(headers["webhook-timestamp"]);
  const expected = verifier.sign(id, new Date(seconds * 1_000), body);
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected);
}
