/** Clients: each sends one order after the other over HTTP, each under a key of its own, and again until it is acknowledged. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Books, textOf } from "./books.ts";

const clients = 12;
/** Phones that get several messages each: the messages of one are handed over in order. */
const regulars = 200;
const pauseMs = 60;
/** A connection that a process was given when it was killed may be answered by nobody. */
export const patienceMs = 3_000;

/** Of answers that say so: in progress, too many, unavailable. */
const later: ReadonlySet<number> = new Set([409, 429, 503]);
class Refused extends Error {}

export class Load {
  readonly #url: string;
  readonly #key: string;
  readonly #books: Books;
  #orders = 0;
  /** Requests that broke off, or were answered that they are to be sent again. */
  again = 0;
  /** Requests that had been done before, whose answer had not come through. */
  replayed = 0;

  constructor(url: string, key: string, books: Books) {
    this.#url = url;
    this.#key = key;
    this.#books = books;
  }

  /** Resolves when all that was begun before `stopped` is acknowledged, or `over` says that nobody waits for it any more. */
  async run(stopped: AbortSignal, over: AbortSignal): Promise<void> {
    const client = async (): Promise<void> => {
      while (!stopped.aborted) {
        const order = ++this.#orders;
        while (!over.aborted && !(await this.#send(order, over))) await sleep(pauseMs);
        await sleep(Math.random() * pauseMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /** Answers whether it was acknowledged. */
  async #send(order: number, over: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([over, AbortSignal.timeout(patienceMs)]);
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `order-${order}`,
    };
    const phone = order % 2 === 0 ? order % regulars : 10_000 + order;
    const body = JSON.stringify({ to: `+1212${String(5_000_000 + phone)}`, body: textOf(order) });
    try {
      const response = await fetch(`${this.#url}/v1/messages`, {
        method: "POST",
        headers,
        body,
        signal,
      });
      const answer = await response.text();
      if (response.status === 201) {
        if (response.headers.get("Idempotent-Replayed") === "true") this.replayed++;
        this.#books.acknowledge(order);
        return true;
      }
      if (!later.has(response.status)) {
        throw new Refused(`POST /v1/messages: ${response.status} ${answer}`);
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    this.again++;
    return false;
  }
}
