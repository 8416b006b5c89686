import type {
  HttpClient,
  HttpFailureCode,
  HttpOutcome,
  HttpRequest,
} from "../../src/ports/http-client.ts";
import type { EngineRun } from "../../adapters/testing/index.ts";
import { shortId } from "../../adapters/testing/world/story.ts";
import type { World } from "./world.ts";

/** A request to a webhook, as its receiver recorded it. Engines cannot change it. */
export interface WebhookRequest {
  readonly url: string;
  readonly event_id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly run: EngineRun;
  /** When it was sent, by the world's clock, and by the sender's clock. */
  readonly at: number;
  readonly started_at: number;
  /** When the sender got the answer, gave up, or crashed. */
  ended_at: number | null;
  /** The sender learned the outcome. */
  outcomeSeen: boolean;
  status: number | null;
}

export type WebhookFault =
  | "serverError"
  | "unavailable"
  | "tooManyRequests"
  | "slowResponse"
  | "noResponse"
  | "connectionReset"
  | "connectionRefused"
  | "gone";

interface Answer {
  /** Undefined: the receiver answers as it should. */
  readonly fault?: WebhookFault;
  readonly weight: number;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly fails?: HttpFailureCode;
  /** The longest time to the answer in milliseconds. Infinity: there is no answer. */
  readonly maxMs?: number;
}

const success: Answer = { weight: 6, status: 200, maxMs: 300 };
const serverError: Answer = { fault: "serverError", weight: 3, status: 500, maxMs: 300 };
const failures: readonly Answer[] = [
  serverError,
  { fault: "unavailable", weight: 1, status: 503, retryAfterSeconds: 20, maxMs: 100 },
  { fault: "tooManyRequests", weight: 1, status: 429, retryAfterSeconds: 90, maxMs: 100 },
  { fault: "slowResponse", weight: 2, status: 204, maxMs: 14_000 },
  { fault: "noResponse", weight: 1, status: 200, maxMs: Infinity },
  { fault: "connectionReset", weight: 1, fails: "response_reset", maxMs: 2_000 },
  { fault: "connectionRefused", weight: 1, fails: "connect_refused", maxMs: 50 },
];
const gone: Answer = { fault: "gone", weight: 1, status: 410, maxMs: 50 };

interface Behaviour {
  readonly weight: number;
  readonly answers: readonly Answer[];
  /** Whether it always succeeds once the faults have stopped. */
  readonly recovers: boolean;
}

const behaviours: readonly Behaviour[] = [
  { weight: 2, answers: [success], recovers: true },
  { weight: 4, answers: [success, ...failures], recovers: true },
  { weight: 1, answers: [success, ...failures, gone], recovers: true },
  { weight: 1, answers: failures.slice(3, 5), recovers: true },
  { weight: 1, answers: [serverError], recovers: false },
];

/** The servers at the URLs of webhooks. They answer, fail, or hang, each in its own way. */
export class WebhookReceivers {
  readonly requests: WebhookRequest[] = [];
  readonly #world: World;
  readonly #behaviours = new Map<string, Behaviour>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Adds a receiver and returns its URL. */
  open(): string {
    const url = `https://receiver-${this.#behaviours.size + 1}.example/`;
    this.#behaviours.set(url, this.#world.dice.weighted(behaviours));
    return url;
  }

  /** The HTTP client of an engine. Its calls never return once the engine's process has ended. */
  client(run: EngineRun): HttpClient {
    return { send: (request) => run.guard(this.#send(run, request)), close() {} };
  }

  get isBusy(): boolean {
    return this.requests.some(({ ended_at, run }) => ended_at === null && run.isAlive);
  }

  async #send(
    run: EngineRun,
    { url, headers, body, deadline_ms, signal }: HttpRequest,
  ): Promise<HttpOutcome> {
    const { clock, trace, dice } = this.#world;
    const event_id = headers["webhook-id"] ?? "";
    const request: WebhookRequest = {
      url,
      event_id,
      headers,
      body: Buffer.from(body ?? []).toString(),
      run,
      at: clock.now(),
      started_at: Math.round(clock.now() + run.skewMs),
      ended_at: null,
      outcomeSeen: false,
      status: null,
    };
    const { fault, status = 200, retryAfterSeconds, fails, maxMs = 0 } = this.#answer(url);
    if (fault !== undefined) this.#world.coverage.count("webhook", "request", fault);
    const takesMs = maxMs === Infinity ? Infinity : dice.between(0, maxMs);
    trace.note(
      [run.name, event_id, url],
      `${run.name} posts ${shortId(event_id)} to ${url}: ${fails ?? status}`,
    );
    this.#world.onWebhookRequest(request);
    this.requests.push(request);
    const timer = new AbortController();
    const aborted = AbortSignal.any([timer.signal, ...(signal === undefined ? [] : [signal])]);
    const answered = clock.sleep(Math.min(takesMs, deadline_ms), aborted);
    await Promise.race([answered, run.ended]);
    timer.abort("ended");
    request.ended_at = clock.now();
    request.outcomeSeen = run.isAlive && signal?.aborted !== true;
    const code = takesMs > deadline_ms ? "response_timeout" : fails;
    if (code !== undefined) {
      return {
        outcome: "failed",
        code,
        message: "The request failed.",
        sent: true,
        address: null,
        partial: null,
      };
    }
    request.status = status;
    return {
      outcome: "answered",
      status,
      headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
      // Like many receivers, it echoes what it was sent.
      body: Buffer.from(request.body.slice(0, 2_000)),
      truncated: false,
      address: "192.0.2.1",
    };
  }

  #answer(url: string): Answer {
    const { dice, faultsStopped } = this.#world;
    const behaviour = this.#behaviours.get(url);
    if (behaviour === undefined || (faultsStopped && behaviour.recovers)) return success;
    return dice.weighted(behaviour.answers);
  }
}
