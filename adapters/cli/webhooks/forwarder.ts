import type { KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Destinations, HttpOutcome, HttpResponse } from "../../../src/ports/index.ts";
import { signatureHeaders, signingKey } from "../../../src/webhooks/index.ts";
import type { Event } from "../../entry.ts";
import { standard } from "../../standard.ts";

/** The outcome of posting one event. */
export interface Answer {
  /** The HTTP status. 0 if there was none. */
  readonly status: number;
  /** Why there is no status. */
  readonly error?: string;
  /** How long the exchange took, in milliseconds. */
  readonly ms: number;
}

/** Where events are posted to. */
export interface Target {
  /** The URL. It has been checked. */
  readonly url: URL;
  /** Destinations that allow the host of the URL. */
  readonly to: Destinations;
}

interface ForwarderOptions extends Target {
  readonly secret: string;
  readonly stopped: AbortSignal;
  /** Called when the receiver does not listen, with a sentence for people. */
  readonly onWait: (why: string) => void;
}

/** The deadline of one request, as for webhooks, in milliseconds. */
const deadlineMs = 15_000;
/**
 * How long to wait for a receiver that does not listen, in milliseconds: an application under
 * development restarts after every change.
 */
const pausesMs = [250, 500, 1_000, 2_000, 4_000] as const;

/** Posts events, signed, to one URL. An event that reached the receiver is not posted again. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #keys: readonly KeyObject[];
  /** The client with which engines post to webhooks. */
  readonly #client = standard().http.client;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#keys = [signingKey(options.secret)];
  }

  /** Posts an event. Returns undefined if the command was stopped meanwhile. */
  async post(event: Event): Promise<Answer | undefined> {
    const { url, stopped, onWait } = this.#options;
    const startedAt = performance.now();
    const answered = ({ status }: HttpResponse): Answer => ({
      status,
      ms: Math.round(performance.now() - startedAt),
    });
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#send(event);
      if (stopped.aborted) return undefined;
      if (outcome.outcome === "answered") return answered(outcome);
      // The status counts, and the rest of the response does not.
      if (outcome.partial !== null) return answered(outcome.partial);
      const pause = pausesMs[attempt];
      const isRefused = outcome.code === "connect_refused";
      if (!isRefused || pause === undefined) {
        return { status: 0, error: isRefused ? "nothing listens there" : outcome.message, ms: 0 };
      }
      if (attempt === 0) onWait(`Nothing listens at ${url.host}. Trying again.`);
      await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
    }
  }

  #send(event: Event): Promise<HttpOutcome> {
    const { url, to, stopped } = this.#options;
    const body = Buffer.from(JSON.stringify(event));
    const signature = signatureHeaders({ id: event.id, at: Date.now(), body }, this.#keys);
    return this.#client.send({
      method: "POST",
      url: url.href,
      to,
      headers: { "user-agent": "tidings", "content-type": "application/json", ...signature },
      body,
      deadline_ms: deadlineMs,
      max_body_bytes: 0,
      // A receiver that restarts closes the connections that it kept.
      own_connection: true,
      signal: stopped,
    });
  }
}
