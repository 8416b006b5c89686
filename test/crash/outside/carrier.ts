/**
 * A carrier outside the processes that are killed. It records every call and its own answers; the
 * judge relies on that record. Each call's outcome is random. Receipts for accepted messages come
 * by callback, repeated until an engine accepts them, or by look-up.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../../src/ports/clock.ts";
import type {
  LookupAnswer,
  Receipt,
  ReceiptSubject,
  SendAnswer,
} from "../../../src/ports/transport.ts";
import type { Dice } from "../dice.ts";
import { listen, post, type Listening } from "./http.ts";
import {
  sharedSecret,
  signatureHeader,
  signatureOf,
  transportName,
  type LookupCall,
  type SendCall,
} from "./protocol.ts";

/**
 * The longest pause between two tries of a callback. More tries would slow down an engine's start.
 */
const maxPauseMs = 300;

/** How a call ended. Only after `sent` did the recipient get the message. */
export type CallEnd =
  "sent" | "refused" | "refused for good" | "dropped" | "too late" | "under way";

/** A call of `send`. Times are by the engines' clock. */
export interface LedgerCall {
  readonly attempt_id: string;
  readonly message_id: string;
  readonly at: number;
  /** Whether the attempt was committed when the call came. */
  readonly committed: boolean;
  end: CallEnd;
}

export interface LedgerLookup {
  readonly attempt_id: string;
  readonly at: number;
  readonly answer: LookupAnswer["outcome"] | "none";
}

export interface Ledger {
  readonly calls: LedgerCall[];
  readonly lookups: LedgerLookup[];
  /** The status that each message must end with, according to the carrier. */
  readonly finalStatuses: Map<string, FinalStatus>;
}

type FinalStatus = "delivered" | "undelivered" | "read" | "failed";

export interface CarrierOptions {
  readonly dice: Dice;
  readonly clock: Clock;
  readonly hasAttempt: (id: string) => Promise<boolean>;
  /** The URL of an engine to deliver a receipt to. It may be another one each time. */
  readonly engine: () => string;
}

interface Sent {
  readonly provider_message_id: string;
  readonly receipts: readonly Receipt[];
  readonly reportsBy: "callback" | "look-up";
}

export class Carrier implements Disposable {
  readonly ledger: Ledger = { calls: [], lookups: [], finalStatuses: new Map() };
  readonly url: string;
  readonly #server: Server;
  readonly #options: CarrierOptions;
  readonly #sent = new Map<string, Sent>();
  readonly #underWay = new Set<string>();
  /** Attempts that a look-up reported as not sent. The carrier refuses them from then on. */
  readonly #barred = new Set<string>();
  readonly #missedLookups = new Set<string>();
  #undelivered = 0;
  #isClosed = false;

  private constructor(options: CarrierOptions, { server, url }: Listening) {
    this.#options = options;
    this.#server = server;
    this.url = url;
  }

  static async open(options: CarrierOptions): Promise<Carrier> {
    const listening = await listen((message, response) => {
      // The caller may be dead before it gets the answer.
      carrier.#answer(message, response).catch(() => response.destroy());
    });
    const carrier = new Carrier(options, listening);
    return carrier;
  }

  /** The number of receipts that no engine has accepted yet. */
  get undelivered(): number {
    return this.#undelivered;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (message.headers.authorization !== sharedSecret) throw new Error("wrong shared secret");
    const call = await json(message);
    const answer =
      message.url === "/send"
        ? await this.#send(call as SendCall)
        : this.#lookUp(call as LookupCall);
    if (answer === "no answer") response.destroy();
    else response.end(JSON.stringify(answer));
  }

  async #send({ attempt_id, message_id, number }: SendCall): Promise<SendAnswer | "no answer"> {
    const { dice, clock, hasAttempt } = this.#options;
    const committed = await hasAttempt(attempt_id);
    const call: LedgerCall = {
      attempt_id,
      message_id,
      at: clock.now(),
      committed,
      end: "under way",
    };
    this.ledger.calls.push(call);
    this.#underWay.add(attempt_id);
    const outcome = dice.pick(number <= 2 ? firstTries : laterTries);
    await sleep(dice.between(0, 30));
    this.#underWay.delete(attempt_id);
    call.end = this.#barred.has(attempt_id) ? "too late" : ends[outcome];

    if (call.end === "sent") {
      const { early, sent } = this.#accept(attempt_id, message_id);
      if (early) {
        await this.#deliver({ provider_message_id: sent.provider_message_id }, sent.receipts);
      }
      await sleep(dice.between(0, 30));
      if (outcome === "answer lost") return "no answer";
      return { outcome: "accepted", provider_message_id: sent.provider_message_id };
    }
    if (call.end === "dropped") return "no answer";
    const permanent = call.end === "refused for good";
    if (permanent) this.ledger.finalStatuses.set(message_id, "failed");
    const code = permanent ? "invalid_destination" : "throttled";
    return { outcome: "rejected", error: { code, message: "The carrier refused." }, permanent };
  }

  /** Accepts a message and schedules its receipts. An early receipt comes before the answer. */
  #accept(attempt_id: string, message_id: string): { early: boolean; sent: Sent } {
    const { dice } = this.#options;
    const at = this.#options.clock.now();
    const status = dice.pick({ delivered: 80, undelivered: 12, read: 8 });
    const receipts: Receipt[] = [{ status: "sent", at }];
    if (status === "undelivered") {
      receipts.push({
        status,
        at: at + 1_000,
        error: { code: "unreachable", message: "The handset is off." },
      });
    } else {
      receipts.push({ status: "delivered", at: at + 1_000 });
      if (status === "read") receipts.push({ status, at: at + 2_000 });
    }
    if (dice.percent(20)) receipts.reverse();
    if (dice.percent(20)) receipts.push(...receipts);
    const reportsBy = dice.pick({ callback: 85, "look-up": 15 });
    const sent: Sent = { provider_message_id: `carrier-${attempt_id}`, receipts, reportsBy };
    this.#sent.set(attempt_id, sent);
    this.ledger.finalStatuses.set(message_id, status);
    if (reportsBy === "look-up") return { early: false, sent };
    if (dice.percent(10)) return { early: true, sent };
    const namesAttempt = dice.percent(30);
    const subject = namesAttempt
      ? ({ attempt_id } as ReceiptSubject)
      : { provider_message_id: sent.provider_message_id };
    void sleep(dice.between(20, 400)).then(() => this.#deliver(subject, receipts));
    return { early: false, sent };
  }

  async #deliver(subject: ReceiptSubject, receipts: readonly Receipt[]): Promise<void> {
    this.#undelivered += receipts.length;
    for (const receipt of receipts) {
      const body = JSON.stringify({ subject, receipt });
      for (let pauseMs = 50; !this.#isClosed && !(await this.#isAccepted(body)); pauseMs *= 2) {
        await sleep(Math.min(pauseMs, maxPauseMs));
      }
      this.#undelivered--;
    }
  }

  async #isAccepted(body: string): Promise<boolean> {
    const url = `${this.#options.engine()}/v1/transports/${transportName}/callbacks`;
    try {
      const { status } = await post(url, body, {
        headers: { [signatureHeader]: signatureOf(body) },
      });
      return status === 204;
    } catch {
      return false;
    }
  }

  #lookUp({ attempt_id }: LookupCall): LookupAnswer | "no answer" {
    const answer = this.#find(attempt_id);
    const outcome = answer === "no answer" ? "none" : answer.outcome;
    this.ledger.lookups.push({ attempt_id, at: this.#options.clock.now(), answer: outcome });
    return answer;
  }

  #find(attempt_id: string): LookupAnswer | "no answer" {
    if (this.#underWay.has(attempt_id)) return { outcome: "unknown" };
    if (!this.#missedLookups.has(attempt_id) && this.#options.dice.percent(10)) {
      this.#missedLookups.add(attempt_id);
      return "no answer";
    }
    const sent = this.#sent.get(attempt_id);
    if (sent === undefined) {
      this.#barred.add(attempt_id);
      return { outcome: "not_sent" };
    }
    const { provider_message_id, reportsBy, receipts } = sent;
    // Receipts that come by callback are reported only once, so a look-up leaves them out.
    return {
      outcome: "sent",
      provider_message_id,
      receipts: reportsBy === "look-up" ? receipts : [],
    };
  }
}

type Outcome = "accepted" | "answer lost" | "refused" | "refused for good" | "dropped";

const ends: Readonly<Record<Outcome, CallEnd>> = {
  accepted: "sent",
  "answer lost": "sent",
  refused: "refused",
  "refused for good": "refused for good",
  dropped: "dropped",
};
const firstTries: Readonly<Record<Outcome, number>> = {
  accepted: 79,
  "answer lost": 7,
  refused: 6,
  "refused for good": 3,
  dropped: 5,
};
/** Later tries do not fail again, since the run would have to wait for the long retry delays. */
const laterTries: Readonly<Record<Outcome, number>> = {
  ...firstTries,
  "answer lost": 0,
  refused: 0,
  dropped: 0,
};
