/**
 * A carrier outside the processes that are killed. It keeps a ledger of all that it was asked and what it did, which is what the judge
 * goes by. Chance decides how each call goes; what was sent gets receipts, by callback (again until they are taken) or by look-up.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { json } from "node:stream/consumers";
import type { Clock } from "../../src/ports/clock.ts";
import type {
  LookupAnswer,
  Receipt,
  ReceiptSubject,
  SendAnswer,
} from "../../src/ports/transport.ts";
import type { Dice } from "./dice.ts";
import { listen, type Listening, post } from "./http.ts";
import {
  type LookupCall,
  type SendCall,
  sharedSecret,
  signatureHeader,
  signatureOf,
  transportName,
} from "./protocol.ts";

/** `sent` is what the recipient got. The other ends are surely not sent. */
export type CallEnd =
  "sent" | "refused" | "refused for good" | "dropped" | "too late" | "under way";

/** One call of `send`. Times are the engine's. */
export interface LedgerCall {
  readonly attempt_id: string;
  readonly message_id: string;
  readonly at: number;
  /** Whether the attempt could be read in the storage when the call came. */
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
  /** What the carrier ends up saying of a message. */
  readonly verdicts: Map<string, FinalStatus>;
}

type FinalStatus = "delivered" | "undelivered" | "read" | "failed";

export interface CarrierOptions {
  readonly dice: Dice;
  readonly clock: Clock;
  readonly hasAttempt: (id: string) => Promise<boolean>;
  /** An engine to bring a receipt to; the next time it may be another. */
  readonly engine: () => string;
}

interface Sent {
  readonly provider_message_id: string;
  readonly receipts: readonly Receipt[];
  readonly tellsBy: "callback" | "look-up";
}

export class Carrier {
  readonly ledger: Ledger = { calls: [], lookups: [], verdicts: new Map() };
  readonly #options: CarrierOptions;
  readonly #sent = new Map<string, Sent>();
  readonly #underWay = new Set<string>();
  /** Attempts that a look-up was told were not sent: they never will be. */
  readonly #barred = new Set<string>();
  readonly #missedLookups = new Set<string>();
  #untaken = 0;
  #closed = false;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  /** Receipts that no engine has taken yet. */
  get untaken(): number {
    return this.#untaken;
  }

  listen(): Promise<Listening> {
    return listen((message, response) => {
      // Who asked may be dead before it is answered.
      this.#answer(message, response).catch(() => response.destroy());
    });
  }

  close(): void {
    this.#closed = true;
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    if (message.headers.authorization !== sharedSecret) throw new Error("not our transport");
    const asked = await json(message);
    const answer =
      message.url === "/send"
        ? await this.#send(asked as SendCall)
        : this.#lookUp(asked as LookupCall);
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
    const fate = dice.pick(number <= 2 ? hard : easy);
    await sleep(dice.between(0, 30));
    this.#underWay.delete(attempt_id);
    call.end = this.#barred.has(attempt_id) ? "too late" : ends[fate];

    if (call.end === "sent") {
      const { early, sent } = this.#carry(attempt_id, message_id);
      if (early) {
        await this.#bring({ provider_message_id: sent.provider_message_id }, sent.receipts);
      }
      await sleep(dice.between(0, 30));
      if (fate === "answer lost") return "no answer";
      return { outcome: "accepted", provider_message_id: sent.provider_message_id };
    }
    if (call.end === "dropped") return "no answer";
    const permanent = call.end === "refused for good";
    if (permanent) this.ledger.verdicts.set(message_id, "failed");
    const code = permanent ? "invalid_destination" : "throttled";
    return { outcome: "rejected", error: { code, message: "The carrier refused." }, permanent };
  }

  /** Sends the message for real. */
  #carry(attempt_id: string, message_id: string): { early: boolean; sent: Sent } {
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
    const tellsBy = dice.pick({ callback: 85, "look-up": 15 });
    const sent: Sent = { provider_message_id: `carrier-${attempt_id}`, receipts, tellsBy };
    this.#sent.set(attempt_id, sent);
    this.ledger.verdicts.set(message_id, status);
    if (tellsBy === "look-up") return { early: false, sent };
    if (dice.percent(10)) return { early: true, sent };
    const echoes = dice.percent(30);
    const subject = echoes
      ? ({ attempt_id } as ReceiptSubject)
      : { provider_message_id: sent.provider_message_id };
    void sleep(dice.between(20, 400)).then(() => this.#bring(subject, receipts));
    return { early: false, sent };
  }

  async #bring(subject: ReceiptSubject, receipts: readonly Receipt[]): Promise<void> {
    this.#untaken += receipts.length;
    for (const receipt of receipts) {
      const body = JSON.stringify({ subject, receipt });
      while (!this.#closed && !(await this.#isTaken(body))) await sleep(50);
      this.#untaken--;
    }
  }

  async #isTaken(body: string): Promise<boolean> {
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
    const { provider_message_id, tellsBy, receipts } = sent;
    // Receipts that come by callback are told once: a look-up says nothing of them.
    return {
      outcome: "sent",
      provider_message_id,
      receipts: tellsBy === "look-up" ? receipts : [],
    };
  }
}

type Fate = "accepted" | "answer lost" | "refused" | "refused for good" | "dropped";

const ends: Readonly<Record<Fate, CallEnd>> = {
  accepted: "sent",
  "answer lost": "sent",
  refused: "refused",
  "refused for good": "refused for good",
  dropped: "dropped",
};
const hard: Readonly<Record<Fate, number>> = {
  accepted: 79,
  "answer lost": 7,
  refused: 6,
  "refused for good": 3,
  dropped: 5,
};
/** A message's later tries go well, or a run would wait for the long pauses between them. */
const easy: Readonly<Record<Fate, number>> = { ...hard, "answer lost": 0, refused: 0, dropped: 0 };
