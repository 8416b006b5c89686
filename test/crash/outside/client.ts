import { setTimeout as sleep } from "node:timers/promises";
import { Dice } from "../dice.ts";
import { post, type Reply } from "./http.ts";

/** What clients were answered. A message that was answered with 201 must not be lost. */
export class Acknowledgements {
  /** The acknowledged message's id by idempotency key. */
  readonly messages = new Map<string, string>();
  /** Descriptions of answers that no client should get. */
  readonly unexpectedAnswers: string[] = [];
  /** How often an engine answered that its storage is unavailable. */
  unavailable = 0;
  /** All idempotency keys that were sent. */
  readonly keys = new Set<string>();

  /** Records an answer. Returns whether it acknowledges the message. */
  record(key: string, { status, body }: Reply): boolean {
    if (status === 503) this.unavailable++;
    if (status !== 201) {
      if (status !== 429 && status !== 409 && status !== 503) {
        this.unexpectedAnswers.push(`${key} was answered ${status}: ${body}`);
      }
      return false;
    }
    const { id } = JSON.parse(body) as { id: string };
    const before = this.messages.get(key) ?? id;
    if (before !== id) {
      this.unexpectedAnswers.push(`${key} was acknowledged as ${before} and as ${id}`);
    }
    this.messages.set(key, id);
    return true;
  }
}

interface ClientOptions {
  readonly name: string;
  readonly dice: Dice;
  readonly apiKey: string;
  readonly engine: () => string;
  readonly acknowledgements: Acknowledgements;
  /** Whether to begin no more messages. */
  readonly stopped: () => boolean;
  /** Aborts at the end of the run, when messages may stay without an acknowledgement. */
  readonly ended: AbortSignal;
}

interface ClientsOptions extends Pick<ClientOptions, "apiKey" | "engine"> {
  /** The seed of the first client. Each has its own. */
  readonly seed: number;
}

/** How many clients send at the same time. */
const clientCount = 12;

/** Clients that send messages until they are stopped. */
export class Clients implements Disposable {
  readonly acknowledgements = new Acknowledgements();
  readonly #running: readonly Promise<void>[];
  readonly #ended = new AbortController();
  #isStopped = false;

  constructor({ seed, apiKey, engine }: ClientsOptions) {
    this.#running = Array.from({ length: clientCount }, (_, i) =>
      runClient({
        name: `client${i}`,
        dice: new Dice(seed + i),
        apiKey,
        engine,
        acknowledgements: this.acknowledgements,
        stopped: () => this.#isStopped,
        ended: this.#ended.signal,
      }),
    );
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Begins no more messages. Resolves when the last ones are acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  /** Ends also the messages that are not acknowledged. */
  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#ended.abort();
  }
}

/** Recipients that get several messages each, so that the order in a conversation matters. */
const frequentRecipients = 40;

/**
 * How long a message may wait for the carrier, by the engines' fast clock. A busy machine and many
 * kills must not let it expire, since an expired message looks like a lost one.
 */
const ttlSeconds = 72 * 3_600;

/** The longest pause between two tries. More tries would slow down an engine's start. */
const maxPauseMs = 100;

/** Sends messages one after another, each under its own key until it is acknowledged. */
async function runClient({
  name,
  dice,
  apiKey,
  engine,
  acknowledgements,
  stopped,
  ended,
}: ClientOptions): Promise<void> {
  for (let i = 0; !stopped(); i++) {
    const key = `${name}-${i}`;
    acknowledgements.keys.add(key);
    const isFrequent = dice.percent(50);
    const recipient = isFrequent ? dice.whole(0, frequentRecipients) : dice.whole(1_000, 9_999_999);
    const message = JSON.stringify({
      to: `+1212${String(recipient).padStart(7, "0")}`,
      body: `message ${key}`,
      ttl_seconds: ttlSeconds,
    });
    const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": key };
    const attempt = async (signal = ended): Promise<boolean> =>
      post(`${engine()}/v1/messages`, message, { headers, signal }).then(
        (reply) => acknowledgements.record(key, reply),
        () => false,
      );
    // Some clients hang up early, and some send twice at once. The key makes it one message.
    if (dice.percent(5)) await attempt(AbortSignal.timeout(dice.whole(1, 20)));
    if (dice.percent(5)) void attempt();
    for (let pauseMs = dice.between(5, 40); !(await attempt()); pauseMs *= 2) {
      if (ended.aborted) return;
      await sleep(Math.min(pauseMs, maxPauseMs));
    }
    if (dice.percent(10)) await attempt();
    await sleep(dice.between(0, 25));
  }
}
