/**
 * A simulated carrier with its phones. It runs in the main process, which is never killed. It
 * delivers a message even if the engine that sent it has died, posts receipts until an engine
 * accepts them, and answers look-ups.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { LookupAnswer, SendAnswer } from "tidings/ports";
import type { CarrierSettings, DeliveryReceipt, SendRequest } from "./carrier-transport.ts";
import { orderOf, type DeliveryLedger } from "./delivery-ledger.ts";
import { requestTimeoutMs } from "./load-generator.ts";

const name = "carrier";
/** A send takes a random time up to this. */
const maxSendMs = 150;
const receiptRetryMs = 100;

export class Carrier {
  readonly #ledger: DeliveryLedger;
  readonly #secret: string = crypto.randomUUID();
  readonly #sent = new Set<string>();
  readonly #inProgress = new Set<string>();
  /** Attempts that a look-up reported as not sent. They must never be sent later. */
  readonly #blocked = new Set<string>();
  readonly #closed = new AbortController();
  readonly #server = createServer((request, response) => {
    // The caller may be killed in the middle of its request.
    this.#handle(request, response).catch(() => response.destroy());
  });
  /** Sends whose caller was killed before it got the response. */
  orphaned = 0;
  lookups = 0;
  /** Where to post receipts: the URL that the three processes share. */
  enginesUrl = "";

  constructor(ledger: DeliveryLedger) {
    this.#ledger = ledger;
  }

  async listen(): Promise<CarrierSettings> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    return { name, url: `http://127.0.0.1:${port}`, secret: this.#secret };
  }

  close(): void {
    this.#closed.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== this.#secret) throw new Error("unauthorized");
    const call = (await json(request)) as SendRequest;
    const answer = request.url === "/send" ? await this.#send(call) : this.#lookUp(call);
    if (request.url === "/send" && response.destroyed) this.orphaned++;
    response.end(JSON.stringify(answer));
  }

  async #send({ attempt_id, text }: SendRequest): Promise<SendAnswer> {
    this.#inProgress.add(attempt_id);
    await sleep(Math.random() * maxSendMs);
    this.#inProgress.delete(attempt_id);
    return this.#blocked.has(attempt_id) ? blockedAnswer : this.#deliver(attempt_id, text);
  }

  #deliver(attempt_id: string, text: string): SendAnswer {
    this.#sent.add(attempt_id);
    this.#ledger.arrive(orderOf(text));
    void this.#postReceipt({
      attempt_id: attempt_id as DeliveryReceipt["attempt_id"],
      at: Date.now(),
    });
    return { outcome: "accepted", provider_message_id: `carrier-${attempt_id}` };
  }

  #lookUp({ attempt_id }: Pick<SendRequest, "attempt_id">): LookupAnswer {
    this.lookups++;
    if (this.#inProgress.has(attempt_id)) return { outcome: "unknown" };
    const receipts = [{ status: "delivered", at: Date.now() }] as const;
    if (this.#sent.has(attempt_id)) {
      return { outcome: "sent", provider_message_id: `carrier-${attempt_id}`, receipts };
    }
    this.#blocked.add(attempt_id);
    return { outcome: "not_sent" };
  }

  async #postReceipt(receipt: DeliveryReceipt): Promise<void> {
    const { signal } = this.#closed;
    const request = {
      method: "POST",
      headers: { Authorization: this.#secret },
      body: JSON.stringify(receipt),
    };
    while (!signal.aborted) {
      const response = await fetch(`${this.enginesUrl}/v1/transports/${name}/callbacks`, {
        ...request,
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
      }).catch(() => undefined);
      if (response?.status === 204) return;
      await sleep(receiptRetryMs, undefined, { signal }).catch(() => {});
    }
  }
}

const error = { code: "unknown", message: "A look-up reported this attempt as not sent." } as const;
const blockedAnswer: SendAnswer = { outcome: "rejected", error, permanent: false };
