import {
  scriptedReceiver,
  type EngineRun,
  type ReceiverOutcome,
  type RequestAtReceiver,
  type ScriptedReceiver,
  type WebhookRequest,
} from "../../adapters/testing/index.ts";
import type { World } from "./world.ts";

export type WebhookFault =
  | "serverError"
  | "unavailable"
  | "tooManyRequests"
  | "redirected"
  | "slowResponse"
  | "noResponse"
  | "connectionReset"
  | "connectionRefused"
  | "gone";

interface Answer {
  /** Undefined: the receiver answers as it should. */
  readonly fault?: WebhookFault;
  readonly weight: number;
  readonly outcome: ReceiverOutcome;
  /** The longest time to the answer, in milliseconds. */
  readonly maxMs: number;
}

const answered = (status: number, retryAfterSeconds?: number): ReceiverOutcome => ({
  outcome: "answered",
  status,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

const success: Answer = { weight: 6, outcome: answered(200), maxMs: 300 };
const serverError: Answer = {
  fault: "serverError",
  weight: 3,
  outcome: answered(500),
  maxMs: 300,
};
const failures: readonly Answer[] = [
  serverError,
  { fault: "unavailable", weight: 1, outcome: answered(503, 20), maxMs: 100 },
  { fault: "tooManyRequests", weight: 1, outcome: answered(429, 90), maxMs: 100 },
  { fault: "slowResponse", weight: 2, outcome: answered(204), maxMs: 14_000 },
  { fault: "noResponse", weight: 1, outcome: { outcome: "hangs" }, maxMs: 0 },
  { fault: "connectionReset", weight: 1, outcome: { outcome: "answer_lost" }, maxMs: 2_000 },
  { fault: "connectionRefused", weight: 1, outcome: { outcome: "unreachable" }, maxMs: 0 },
  { fault: "redirected", weight: 1, outcome: answered(301), maxMs: 100 },
];
const gone: Answer = { fault: "gone", weight: 1, outcome: answered(410), maxMs: 50 };

interface Behavior {
  readonly weight: number;
  readonly answers: readonly Answer[];
  /** Whether it always succeeds once the faults have stopped. */
  readonly recovers: boolean;
}

const behaviors: readonly Behavior[] = [
  { weight: 2, answers: [success], recovers: true },
  { weight: 4, answers: [success, ...failures], recovers: true },
  { weight: 1, answers: [success, ...failures, gone], recovers: true },
  { weight: 1, answers: failures.slice(3, 5), recovers: true },
  { weight: 1, answers: [serverError], recovers: false },
];

/** The servers at the URLs of webhooks. They answer, fail, or hang, each in its own way. */
export class WebhookReceivers {
  readonly receiver: ScriptedReceiver;
  readonly #world: World;
  readonly #behaviors = new Map<string, Behavior>();
  readonly #runs = new WeakMap<WebhookRequest, EngineRun>();
  readonly #begunAt = new WeakMap<WebhookRequest, number>();

  constructor(world: World) {
    this.#world = world;
    this.receiver = scriptedReceiver({
      script: (request) => this.#answer(request),
      onRequest: (request) => {
        this.#runs.set(request, world.engines.runOf(request.engine));
        this.#begunAt.set(request, world.clock.monotonic());
        world.onWebhookRequest(request);
      },
    });
  }

  /** Adds a receiver and returns its URL. */
  open(): string {
    const url = `https://receiver-${this.#behaviors.size + 1}.example/`;
    this.#behaviors.set(url, this.#world.dice.weighted(behaviors));
    return url;
  }

  get requests(): readonly WebhookRequest[] {
    return this.receiver.requests;
  }

  get isBusy(): boolean {
    return this.requests.some(({ ended_at }) => ended_at === null);
  }

  /** The run of the engine that made the request. */
  runOf(request: WebhookRequest): EngineRun | undefined {
    return this.#runs.get(request);
  }

  /** When the request ended, in milliseconds since the world began. Null while it is under way. */
  endOf(request: WebhookRequest): number | null {
    const begunAt = this.#begunAt.get(request);
    const { duration_ms: duration } = request;
    return begunAt === undefined || duration === null ? null : begunAt + duration;
  }

  #answer({ url, body }: RequestAtReceiver): ReceiverOutcome {
    const { dice, faultsStopped } = this.#world;
    const behavior = this.#behaviors.get(url);
    const isWell = behavior === undefined || (faultsStopped && behavior.recovers);
    const { outcome, maxMs, fault } = isWell ? success : dice.weighted(behavior.answers);
    if (fault !== undefined) this.#world.coverage.count("webhook", "post", fault);
    const afterMs = dice.between(0, maxMs);
    // Like many receivers, it echoes what it was sent.
    if (outcome.outcome === "answered") return { ...outcome, afterMs, body: body.slice(0, 2_000) };
    return outcome.outcome === "answer_lost" ? { ...outcome, afterMs } : outcome;
  }
}
