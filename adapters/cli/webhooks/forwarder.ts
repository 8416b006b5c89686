import { setTimeout as sleep } from "node:timers/promises";
import type { KeyObject } from "node:crypto";
import type { Event } from "../../entry.ts";
import { signatureHeaders, signingKey } from "../../../src/webhooks/index.ts";
import { memberOf } from "../../../src/kernel/index.ts";
import { systemCode } from "../failures.ts";

/** The outcome of posting one event. */
export interface Answer {
  /** The HTTP status. 0 if there was none. */
  readonly status: number;
  /** Why there is no status. */
  readonly error?: string;
  /** How long the exchange took, in milliseconds. */
  readonly ms: number;
}

interface ForwarderOptions {
  readonly url: URL;
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

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#keys = [signingKey(options.secret)];
  }

  /** Posts an event. Returns undefined if the command was stopped meanwhile. */
  async post(event: Event): Promise<Answer | undefined> {
    const { url, stopped, onWait } = this.#options;
    const startedAt = performance.now();
    for (let attempt = 0; ; attempt += 1) {
      if (stopped.aborted) return undefined;
      try {
        const status = await this.#send(event);
        return { status, ms: Math.round(performance.now() - startedAt) };
      } catch (error) {
        if (stopped.aborted) return undefined;
        const pause = pausesMs[attempt];
        const code = systemCode(memberOf(error, "cause")) ?? "";
        if (code !== "ECONNREFUSED" || pause === undefined) {
          return { status: 0, error: reasonOf(error, code), ms: 0 };
        }
        if (attempt === 0) onWait(`Nothing listens at ${url.host}. Trying again.`);
        await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
      }
    }
  }

  async #send(event: Event): Promise<number> {
    const { url, stopped } = this.#options;
    const body = Buffer.from(JSON.stringify(event));
    const signature = signatureHeaders({ id: event.id, at: Date.now(), body }, this.#keys);
    const response = await fetch(url, {
      method: "POST",
      headers: { "user-agent": "tidings", "content-type": "application/json", ...signature },
      body,
      redirect: "manual",
      signal: AbortSignal.any([stopped, AbortSignal.timeout(deadlineMs)]),
    });
    await response.body?.cancel();
    return response.status;
  }
}

function reasonOf(error: unknown, code: string): string {
  if (code === "ECONNREFUSED") return "nothing listens there";
  if (error instanceof Error && error.name === "TimeoutError") {
    return `no answer within ${deadlineMs / 1_000} s`;
  }
  return code === "" ? String(memberOf(error, "message") ?? error) : code;
}
