/**
 * The carrier and the phones, in the process that is not killed. It sends what it was asked to, also when who asked is dead by then;
 * brings receipts until an engine takes them; and tells who asks what became of an attempt.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { LookupAnswer, SendAnswer } from "tidings";
import { type Books, orderOf } from "./books.ts";
import { patienceMs } from "./load.ts";
import type { Arrival, CarrierSettings, SendCall } from "./transport.ts";

const name = "carrier";
/** How long a call takes, at most. */
const slowestMs = 150;
const pauseMs = 100;

export class Carrier {
  readonly #books: Books;
  readonly #secret: string = crypto.randomUUID();
  readonly #sent = new Set<string>();
  readonly #underWay = new Set<string>();
  /** Attempts that were said not to be sent: they never will be. */
  readonly #barred = new Set<string>();
  readonly #over = new AbortController();
  readonly #server = createServer((request, response) => {
    // Who asks may be killed in the middle of a question.
    this.#answer(request, response).catch(() => response.destroy());
  });
  /** Hand-overs whose caller was gone before it had an answer. */
  orphaned = 0;
  lookups = 0;
  /** Of the engines, to bring receipts to. */
  engines = "";

  constructor(books: Books) {
    this.#books = books;
  }

  async listen(): Promise<CarrierSettings> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as AddressInfo;
    return { name, url: `http://127.0.0.1:${port}`, secret: this.#secret };
  }

  close(): void {
    this.#over.abort();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== this.#secret) throw new Error("not our transport");
    const call = (await json(request)) as SendCall;
    const answer = request.url === "/send" ? await this.#send(call) : this.#lookUp(call);
    if (request.url === "/send" && response.destroyed) this.orphaned++;
    response.end(JSON.stringify(answer));
  }

  async #send({ attempt_id, text }: SendCall): Promise<SendAnswer> {
    this.#underWay.add(attempt_id);
    await sleep(Math.random() * slowestMs);
    this.#underWay.delete(attempt_id);
    return this.#barred.has(attempt_id) ? tooLate : this.#carry(attempt_id, text);
  }

  #carry(attempt_id: string, text: string): SendAnswer {
    this.#sent.add(attempt_id);
    this.#books.arrive(orderOf(text));
    void this.#tell({ attempt_id: attempt_id as Arrival["attempt_id"], at: Date.now() });
    return { outcome: "accepted", provider_message_id: `carrier-${attempt_id}` };
  }

  #lookUp({ attempt_id }: Pick<SendCall, "attempt_id">): LookupAnswer {
    this.lookups++;
    if (this.#underWay.has(attempt_id)) return { outcome: "unknown" };
    const receipts = [{ status: "delivered", at: Date.now() }] as const;
    if (this.#sent.has(attempt_id)) {
      return { outcome: "sent", provider_message_id: `carrier-${attempt_id}`, receipts };
    }
    this.#barred.add(attempt_id);
    return { outcome: "not_sent" };
  }

  async #tell(arrival: Arrival): Promise<void> {
    const { signal } = this.#over;
    const request = {
      method: "POST",
      headers: { Authorization: this.#secret },
      body: JSON.stringify(arrival),
    };
    while (!signal.aborted) {
      const taken = await fetch(`${this.engines}/v1/transports/${name}/callbacks`, {
        ...request,
        signal: AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
      }).catch(() => undefined);
      if (taken?.status === 204) return;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

const error = { code: "unknown", message: "This attempt was called off." } as const;
const tooLate: SendAnswer = { outcome: "rejected", error, permanent: false };
