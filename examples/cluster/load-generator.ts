/**
 * Simulates clients. Each sends one order after another over HTTP, every order with its own
 * idempotency key, and repeats a request until it is acknowledged.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { textOf, type DeliveryLedger } from "./delivery-ledger.ts";

const clientCount = 12;
/** Phones that get several messages. The messages to one phone are sent in order. */
const regularPhones = 200;
const pauseMs = 60;
/** A request to a process that is killed may never get a response. */
export const requestTimeoutMs = 3_000;

/** Statuses that ask to repeat the request: in progress, rate limited, unavailable. */
const retryableStatuses: ReadonlySet<number> = new Set([409, 429, 503]);
class UnexpectedResponse extends Error {}

export class LoadGenerator {
  readonly #url: string;
  readonly #apiKey: string;
  readonly #ledger: DeliveryLedger;
  #orders = 0;
  /** Requests that failed or got a retryable status, and were sent again. */
  repeated = 0;
  /** Repeated requests that the API had already carried out. */
  replayed = 0;

  constructor(url: string, apiKey: string, ledger: DeliveryLedger) {
    this.#url = url;
    this.#apiKey = apiKey;
    this.#ledger = ledger;
  }

  /**
   * Starts no orders after `stopped`. Resolves when all orders are acknowledged, or `abandoned`
   * aborts.
   */
  async run(stopped: AbortSignal, abandoned: AbortSignal): Promise<void> {
    const client = async (): Promise<void> => {
      while (!stopped.aborted) {
        const order = ++this.#orders;
        while (!abandoned.aborted && !(await this.#send(order, abandoned))) await sleep(pauseMs);
        await sleep(Math.random() * pauseMs);
      }
    };
    await Promise.all(Array.from({ length: clientCount }, client));
  }

  /** Returns whether the order was acknowledged. */
  async #send(order: number, abandoned: AbortSignal): Promise<boolean> {
    const headers = {
      Authorization: `Bearer ${this.#apiKey}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `order-${order}`,
    };
    const phone = order % 2 === 0 ? order % regularPhones : 10_000 + order;
    const body = JSON.stringify({ to: `+1212${String(5_000_000 + phone)}`, body: textOf(order) });
    try {
      const response = await fetch(`${this.#url}/v1/messages`, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.any([abandoned, AbortSignal.timeout(requestTimeoutMs)]),
      });
      const text = await response.text();
      if (response.status === 201) {
        if (response.headers.get("Idempotent-Replayed") === "true") this.replayed++;
        this.#ledger.acknowledge(order);
        return true;
      }
      if (!retryableStatuses.has(response.status)) {
        throw new UnexpectedResponse(`POST /v1/messages: ${response.status} ${text}`);
      }
    } catch (error) {
      if (error instanceof UnexpectedResponse) throw error;
    }
    this.repeated++;
    return false;
  }
}
