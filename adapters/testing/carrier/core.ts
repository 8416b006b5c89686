import type {
  InboundMessage,
  LookupAnswer,
  LookupContext,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
  SendAnswer,
  SendContext,
} from "../../../src/ports/index.ts";
import { Dice } from "../simulated/dice.ts";
import type { Fault } from "../world/faults.ts";
import type { PortCall } from "../world/ports/port-calls.ts";
import { joinWorld, type RunContext } from "../world/run-context.ts";
import { quoted, shortId } from "../world/story.ts";
import { Deliveries, type CarrierConnection } from "./deliveries.ts";
import {
  carrierError,
  outcomeOf,
  receiptsOf,
  type AttemptAtCarrier,
  type CarrierCall,
  type CarrierOutcome,
  type CarrierScript,
  type IssuedReceipt,
  type ScriptedReceipt,
} from "./script.ts";

/** By how much a second copy of a receipt may come later. */
const maxCopyDelayMs = 30_000;
const defaultAfterMs = 1_000;

/** How a text from a phone gets to an engine. */
interface Arrival {
  readonly transport: string;
  readonly arrivesAfterMs: number;
  readonly account_id: string | undefined;
}

/** What a carrier is made of. */
export interface CarrierSettings {
  readonly script: CarrierScript;
  readonly hasReceipts: boolean;
  readonly onCall: ((call: CarrierCall) => void) | undefined;
}

const verbs: Readonly<Record<CarrierOutcome["outcome"], string>> = {
  accepted: "accepts",
  answer_lost: "accepts",
  refused: "refuses",
  throttled: "throttles",
};

type WithWritableReceipts = CarrierCall & { readonly receipts: IssuedReceipt[] };

/** What is behind the transports of a scripted carrier. It answers and records every call. */
export class CarrierCore {
  readonly calls: WithWritableReceipts[] = [];
  readonly texts: InboundMessage[] = [];
  /** Attempts that a look-up reported as not sent. */
  readonly denied = new Set<string>();
  readonly deliveries = new Deliveries((about, text) => this.#note(about, text));
  readonly #settings: CarrierSettings;
  #dice = new Dice(1);
  #world: RunContext["world"] | undefined;
  #lastId = 0;

  constructor(settings: CarrierSettings) {
    this.#settings = settings;
  }

  /** Joins the world of an engine. A carrier belongs to one world. */
  join({ world }: RunContext): void {
    this.#world = joinWorld("carrier", this.#world, world);
    this.#dice = world.dice;
    this.deliveries.use(world.clock, world.dice);
  }

  send(
    connection: CarrierConnection,
    message: OutboundMessage,
    { attempt_id, number, started_at }: SendContext,
  ): SendAnswer {
    const attempt: AttemptAtCarrier = {
      message,
      attempt_id,
      number,
      started_at,
      at: this.#now(),
      transport: connection.transport,
      engine: connection.context?.run.name ?? "",
    };
    const outcome = this.#outcome(connection, attempt);
    const isAccepted = outcome.outcome === "accepted" || outcome.outcome === "answer_lost";
    const call: WithWritableReceipts = {
      ...attempt,
      outcome: outcome.outcome,
      provider_message_id: isAccepted ? `carrier-${++this.#lastId}` : null,
      receipts: [],
      wasDenied: this.denied.has(attempt_id),
    };
    const from = call.engine === "" ? "" : ` from ${call.engine}`;
    this.#note(
      [call.engine, message.message_id, attempt_id],
      `the carrier ${verbs[outcome.outcome]} ${shortId(message.message_id)}, ` +
        `attempt ${number},${from} over its ${call.transport}: ` +
        `${quoted(message.body)} to ${message.to}`,
    );
    this.#settings.onCall?.(call);
    this.calls.push(call);
    this.#world?.calls.push(call);
    this.#issueReceipts(connection, call, receiptsOf(outcome));
    return answerTo(outcome, call.provider_message_id);
  }

  lookup(
    connection: CarrierConnection,
    { message_id }: OutboundMessage,
    { attempt_id, number }: LookupContext,
  ): LookupAnswer {
    const call = this.calls.find((each) => each.attempt_id === attempt_id);
    const note = (found: string): void =>
      this.#note(
        [message_id, attempt_id],
        `a look-up of attempt ${number} of ${shortId(message_id)} returns: ${found}`,
      );
    if (occurs(connection, "lookupUnknown", "look-up")) {
      note("unknown");
      return { outcome: "unknown" };
    }
    if (call === undefined || call.provider_message_id === null) {
      this.denied.add(attempt_id);
      note("not sent");
      return { outcome: "not_sent" };
    }
    const receipts = occurs(connection, "lookupLags", "look-up")
      ? []
      : call.receipts.map(({ receipt }) => receipt).filter(({ at }) => at <= this.#now());
    note(`sent, ${receipts.length} receipts`);
    return { outcome: "sent", provider_message_id: call.provider_message_id, receipts };
  }

  /** Takes a message from a phone, and delivers it to an engine, sometimes twice. */
  receive(
    message: Omit<InboundMessage, "provider_message_id" | "at">,
    { transport, arrivesAfterMs, account_id = this.#accountOf(message) }: Arrival,
  ): void {
    const inbound: InboundMessage = {
      ...message,
      provider_message_id: `in-${this.texts.length + 1}`,
      at: this.#now(),
    };
    this.texts.push(inbound);
    const [any] = this.deliveries.connections;
    const times = any !== undefined && occurs(any, "reportTwice", "text") ? 2 : 1;
    const what = `inbound ${inbound.provider_message_id}`;
    for (let copy = 0; copy < times; copy++) {
      const late = copy === 0 ? 0 : this.#dice.between(0, maxCopyDelayMs);
      this.deliveries.add({
        what,
        about: [],
        transport,
        delayMs: arrivesAfterMs + late,
        deliver: (sink) => sink.inbound(inbound, account_id),
      });
    }
  }

  /** In sandbox mode, the account that texted the phone last from the address that it answers. */
  #accountOf({ from, to }: Pick<InboundMessage, "from" | "to">): string | undefined {
    const last = this.calls.findLast(({ message }) => message.to === from && message.from === to);
    return last?.message.mode === "sandbox" ? last.message.account_id : undefined;
  }

  #outcome(connection: CarrierConnection, attempt: AttemptAtCarrier): CarrierOutcome {
    if (occurs(connection, "carrierThrottles", "send")) {
      const isTold = this.#dice.chance(0.5);
      return {
        outcome: "throttled",
        ...(isTold ? { retryAfterMs: this.#dice.between(100, 20_000) } : {}),
      };
    }
    if (occurs(connection, "carrierRefuses", "send")) {
      // The first code blames the message, the second blames the sender.
      return { outcome: "refused", code: this.#dice.pick(["filtered", "invalid_sender"]) };
    }
    return outcomeOf(this.#settings.script, attempt);
  }

  #issueReceipts(
    connection: CarrierConnection,
    call: WithWritableReceipts,
    scripted: readonly ScriptedReceipt[],
  ): void {
    const { provider_message_id, attempt_id, message, transport } = call;
    if (!this.#settings.hasReceipts || provider_message_id === null) return;
    for (const { names, afterMs = defaultAfterMs, arrivesAfterMs = afterMs, ...rest } of scripted) {
      const receipt = receiptOf(rest, this.#now() + afterMs);
      const subject: ReceiptSubject =
        names === "attempt" ? { attempt_id } : { provider_message_id };
      const lost = occurs(connection, "receiptLost", "receipt");
      const issued: IssuedReceipt = { subject, receipt, lost, acknowledged: false };
      call.receipts.push(issued);
      if (lost) continue;
      const times = occurs(connection, "reportTwice", "receipt") ? 2 : 1;
      for (let copy = 0; copy < times; copy++) {
        const due = occurs(connection, "receiptEarly", "receipt") ? 0 : arrivesAfterMs;
        this.deliveries.add({
          what: `receipt "${receipt.status}" of ${shortId(message.message_id)}`,
          about: [message.message_id],
          transport,
          delayMs: copy === 0 ? due : due + this.#dice.between(0, maxCopyDelayMs),
          async deliver(sink) {
            await sink.receipt(subject, receipt);
            issued.acknowledged = true;
          },
        });
      }
    }
  }

  #now(): number {
    return this.deliveries.now();
  }

  #note(about: readonly string[], text: string): void {
    this.#world?.story.note(about, text);
  }
}

function occurs({ context }: CarrierConnection, fault: Fault, call: PortCall): boolean {
  return context?.occurs(fault, { call }) ?? false;
}

function receiptOf(
  { status, error = "unreachable" }: Pick<ScriptedReceipt, "status" | "error">,
  at: number,
): Receipt {
  return status === "undelivered" ? { status, at, error: carrierError(error) } : { status, at };
}

function answerTo(outcome: CarrierOutcome, provider_message_id: string | null): SendAnswer {
  if (outcome.outcome === "accepted" && provider_message_id !== null) {
    return { outcome: "accepted", provider_message_id };
  }
  if (outcome.outcome === "refused") {
    const error = carrierError(outcome.code ?? "invalid_destination");
    return { outcome: "rejected", error, permanent: true };
  }
  if (outcome.outcome === "throttled") {
    const { retryAfterMs } = outcome;
    return {
      outcome: "rejected",
      error: carrierError("throttled"),
      permanent: false,
      ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    };
  }
  return { outcome: "ambiguous", error: carrierError("answer_lost") };
}
