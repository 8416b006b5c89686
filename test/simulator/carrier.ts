import type {
  AttemptMade,
  CarrierError,
  InboundMessage,
  LookupAnswer,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
  SendAnswer,
} from "../../src/ports/transport.ts";
import { primaryTransport } from "./settings.ts";
import { shortId } from "./trace.ts";
import type { World } from "./world.ts";

/** A call that reached the carrier, as the carrier recorded it. Engines cannot change it. */
export interface CarrierCall {
  readonly attempt_id: string;
  readonly message: OutboundMessage;
  readonly number: number;
  readonly engine: string;
  /** The transport that made the call. */
  readonly transport: string;
  /** When it arrived, by the world's clock. */
  readonly at: number;
  /** Set when the carrier accepted the message, which it then sends. */
  readonly provider_message_id: string | null;
  readonly receipts: IssuedReceipt[];
  /** An earlier look-up had already answered that this attempt was not sent. */
  readonly wasDenied: boolean;
}

export interface IssuedReceipt {
  readonly subject: ReceiptSubject;
  readonly receipt: Receipt;
  /** Never delivered as a callback; only a look-up returns it. */
  readonly lost: boolean;
  /** An engine accepted the receipt and answered. */
  acknowledged: boolean;
}

/**
 * The carrier. It records every call, and retries each receipt and inbound message until an engine
 * accepts it.
 */
export class Carrier {
  readonly calls: CarrierCall[] = [];
  readonly inbound: InboundMessage[] = [];
  /** Attempts that a look-up reported as not sent. */
  readonly denied = new Set<string>();
  readonly #world: World;
  #undelivered = 0;
  #lastId = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** The number of receipts and inbound messages that no engine has accepted yet. */
  get undelivered(): number {
    return this.#undelivered;
  }

  callsOf(message_id: string): CarrierCall[] {
    return this.calls.filter(({ message }) => message.message_id === message_id);
  }

  /** Handles a call. The transport may still lose the answer on its way back. */
  handleCall(
    engine: string,
    transport: string,
    message: OutboundMessage,
    attempt: { attempt_id: string; number: number },
  ): SendAnswer {
    const { dice, faults, clock } = this.#world;
    const throttled = dice.chance(faults.carrierThrottles);
    const refused = !throttled && dice.chance(faults.carrierRefuses);
    const accepted = !throttled && !refused;
    const { attempt_id, number } = attempt;
    const call: CarrierCall = {
      attempt_id,
      message,
      number,
      engine,
      transport,
      at: clock.now(),
      provider_message_id: accepted ? `carrier-${++this.#lastId}` : null,
      receipts: [],
      wasDenied: this.denied.has(attempt_id),
    };
    const verb = accepted ? "accepts" : throttled ? "throttles" : "refuses";
    this.#world.trace.note(
      [engine, message.message_id, attempt_id],
      `the carrier ${verb} ${shortId(message.message_id)}, attempt ${number}, from ${engine} over its ${transport}`,
    );
    this.#world.onCarrierCall(call);
    this.calls.push(call);
    if (call.provider_message_id !== null) {
      this.#issueReceipts(call, call.provider_message_id);
      return { outcome: "accepted", provider_message_id: call.provider_message_id };
    }
    if (refused) {
      // The first code blames the message, the second blames the sender.
      const code = dice.pick(["filtered", "invalid_sender"]);
      return { outcome: "rejected", error: failure(code), permanent: true };
    }
    const retryAfter = dice.chance(0.5) ? { retry_after_ms: dice.between(100, 20_000) } : {};
    return { outcome: "rejected", error: failure("throttled"), permanent: false, ...retryAfter };
  }

  lookup({ message_id }: OutboundMessage, { attempt_id, number }: AttemptMade): LookupAnswer {
    const { dice, faults, clock, trace } = this.#world;
    const call = this.calls.find((each) => each.attempt_id === attempt_id);
    const note = (found: string): void => {
      trace.note(
        [message_id, attempt_id],
        `a look-up of attempt ${number} of ${shortId(message_id)} returns: ${found}`,
      );
    };
    if (dice.chance(faults.lookupUnknown)) {
      note("unknown");
      return { outcome: "unknown" };
    }
    if (call === undefined || call.provider_message_id === null) {
      this.denied.add(attempt_id);
      note("not sent");
      return { outcome: "not_sent" };
    }
    const isBehind = dice.chance(faults.lookupLags);
    const receipts = isBehind
      ? []
      : call.receipts.map(({ receipt }) => receipt).filter(({ at }) => at <= clock.now());
    note(`sent, ${receipts.length} receipts`);
    return { outcome: "sent", provider_message_id: call.provider_message_id, receipts };
  }

  /** Takes a message from a contact and delivers it to an engine, sometimes twice. */
  receive(input: Omit<InboundMessage, "provider_message_id" | "at">): void {
    const { dice, clock, faults } = this.#world;
    const message: InboundMessage = {
      ...input,
      provider_message_id: `in-${this.inbound.length + 1}`,
      at: clock.now(),
    };
    this.inbound.push(message);
    const times = dice.chance(faults.receiptTwice) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      this.#deliver(
        dice.between(0, 2_000),
        [],
        `inbound ${message.provider_message_id}`,
        async (sink) => {
          await sink.inbound(message);
        },
      );
    }
  }

  #issueReceipts(call: CarrierCall, provider_message_id: string): void {
    const { dice, faults, clock, hasReceipts } = this.#world;
    if (!hasReceipts) return;
    const now = clock.now();
    const { statuses } = dice.weighted(receiptSequences);
    let at = now;
    for (const status of statuses) {
      at += dice.between(0, 20_000);
      const receipt: Receipt =
        status === "undelivered" ? { status, at, error: failure("unreachable") } : { status, at };
      const subject = dice.chance(this.#world.attemptIdShare)
        ? { attempt_id: call.attempt_id as `att_${string}` }
        : { provider_message_id };
      const issued: IssuedReceipt = {
        subject,
        receipt,
        lost: dice.chance(faults.receiptLost),
        acknowledged: false,
      };
      call.receipts.push(issued);
      if (issued.lost) continue;
      const times = dice.chance(faults.receiptTwice) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        // Receipts may overtake each other, and even the answer to the call.
        const delay = dice.chance(faults.receiptEarly) ? 0 : at - now + dice.between(0, 30_000);
        this.#deliver(
          delay,
          [call.message.message_id],
          `receipt "${status}" of ${shortId(call.message.message_id)}`,
          async (sink) => {
            await sink.receipt(subject, receipt);
            issued.acknowledged = true;
          },
          call.transport,
        );
      }
    }
  }

  /** Tries one engine after another until one accepts. */
  #deliver(
    delay: number,
    about: readonly string[],
    what: string,
    deliver: Parameters<World["deliverToEngine"]>[0],
    transport = primaryTransport,
  ): void {
    const { clock, trace, dice } = this.#world;
    this.#undelivered++;
    const run = async (): Promise<void> => {
      await clock.sleep(delay);
      for (;;) {
        const { engine, accepted } = await this.#world.deliverToEngine(deliver, transport);
        trace.note(
          [...about, engine],
          `${what} delivered to ${engine}: ${accepted ? "accepted" : "no answer"}`,
        );
        if (accepted) break;
        await clock.sleep(dice.between(500, 5_000));
      }
      this.#undelivered--;
    };
    void run();
  }
}

/** The receipts that follow an accepted message, and how likely each sequence is. */
const receiptSequences: readonly {
  readonly weight: number;
  readonly statuses: readonly Receipt["status"][];
}[] = [
  { weight: 5, statuses: ["delivered"] },
  { weight: 3, statuses: ["sent", "delivered"] },
  { weight: 2, statuses: ["undelivered"] },
  { weight: 1, statuses: ["undelivered", "delivered"] },
  { weight: 1, statuses: ["delivered", "undelivered"] },
  { weight: 2, statuses: ["sent", "delivered", "read"] },
  { weight: 1, statuses: ["sent"] },
  { weight: 1, statuses: [] },
];

function failure(code: CarrierError["code"]): CarrierError {
  return { code, message: `The carrier answered ${code}.` };
}
