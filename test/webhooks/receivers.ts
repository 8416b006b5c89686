/** Receivers on a virtual clock. Tests define their answers, and they record their requests. */
import { Webhook as Verifier } from "standardwebhooks";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../src/ports/http-client.ts";
import type { VirtualClock } from "../../adapters/testing/index.ts";

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
export type Behaviour = (request: ReceivedRequest, n: number) => Answer;

export interface Receivers {
  readonly client: HttpClient;
  readonly seen: ReceivedRequest[];
  /** The maximum and the current number of concurrent requests by URL. */
  readonly busiest: ReadonlyMap<string, number>;
  readonly busy: ReadonlyMap<string, number>;
  /** Requests that arrived during a request of the same event to the same URL. */
  readonly overlaps: ReceivedRequest[];
  at(url: string, behaviour: Behaviour): void;
}

/** `setOn` returns the sum of all jumps of the clock. */
export function receivers(clock: VirtualClock, setOn: () => number = () => 0): Receivers {
  const seen: ReceivedRequest[] = [];
  const behaviours = new Map<string, Behaviour>();
  const counts = new Map<string, number>();
  const busy = new Map<string, number>();
  const busiest = new Map<string, number>();
  const underWay = new Set<string>();
  const overlaps: ReceivedRequest[] = [];

  async function send(request: HttpRequest): Promise<HttpOutcome> {
    const { url, headers, body, deadline_ms, signal } = request;
    const id = headers["webhook-id"] ?? "";
    const at = clock.now();
    const text = Buffer.from(body ?? []).toString();
    const said: ReceivedRequest = {
      url,
      at,
      elapsed: at - setOn(),
      id,
      body: text,
      headers,
      after: 0,
    };
    seen.push(said);
    const n = counts.get(url) ?? 0;
    counts.set(url, n + 1);
    const {
      status = 200,
      headers: answered = {},
      body: answer = "",
      after = 5,
    } = behaviours.get(url)?.(said, n) ?? {};
    said.after = Math.min(after, deadline_ms);
    const now = (busy.get(url) ?? 0) + 1;
    busy.set(url, now);
    busiest.set(url, Math.max(busiest.get(url) ?? 0, now));
    const name = `${url} ${id}`;
    if (underWay.has(name)) overlaps.push(said);
    underWay.add(name);
    await clock.sleep(said.after, signal);
    underWay.delete(name);
    busy.set(url, (busy.get(url) ?? 1) - 1);
    const address = "192.0.2.1";
    if (after > deadline_ms) {
      return {
        outcome: "failed",
        code: "response_timeout",
        message: "late",
        sent: true,
        address,
        partial: null,
      };
    }
    return {
      outcome: "answered",
      status,
      headers: answered,
      body: Buffer.from(answer),
      truncated: false,
      address,
    };
  }

  return {
    client: { send, close() {} },
    seen,
    busiest,
    busy,
    overlaps,
    at: (url, behaviour) => void behaviours.set(url, behaviour),
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
