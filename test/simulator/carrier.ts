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
import { carrierName } from "./line.ts";
import { short } from "./trace.ts";
import type { World } from "./world.ts";

/** One call that reached the carrier, as the carrier keeps it: outside the engines, whatever they make of it. */
export interface CarrierCall {
  readonly attempt_id: string;
  readonly message: OutboundMessage;
  readonly number: number;
  readonly engine: string;
  /** The line that it came over. */
  readonly transport: string;
  /** The true time of its arrival. */
  readonly at: number;
  /** Given when the carrier took it: it goes out for real. */
  readonly provider_message_id: string | null;
  readonly receipts: IssuedReceipt[];
  /** A look-up said that it never came, before it came. */
  readonly wasDenied: boolean;
}

export interface IssuedReceipt {
  readonly subject: ReceiptSubject;
  readonly receipt: Receipt;
  /** Never brought by itself: only a look-up finds it. */
  readonly lost: boolean;
  /** An engine took it in and said so. */
  heard: boolean;
}

export interface Delivery {
  readonly message: InboundMessage;
  heard: boolean;
}

/** The carrier's side: it remembers every call, and brings receipts and inbound messages until an engine has taken them. */
export class Carrier {
  readonly calls: CarrierCall[] = [];
  readonly inbound: Delivery[] = [];
  /** Attempts of which a look-up said that they were not sent. */
  readonly denied = new Set<string>();
  readonly #world: World;
  #underway = 0;
  #lastId = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Receipts and inbound messages that no engine has taken yet. */
  get underway(): number {
    return this.#underway;
  }

  callsOf(message_id: string): CarrierCall[] {
    return this.calls.filter(({ message }) => message.message_id === message_id);
  }

  /** A call arrives. What the carrier answers may still get lost on its way back. */
  take(
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
    const what = accepted ? "takes" : throttled ? "throttles" : "refuses";
    this.#world.trace.note(
      [engine, message.message_id, attempt_id],
      `the carrier ${what} ${short(message.message_id)}, attempt ${number}, from ${engine} over its ${transport}`,
    );
    this.#world.called(call);
    this.calls.push(call);
    if (call.provider_message_id !== null) {
      this.#issueReceipts(call, call.provider_message_id);
      return { outcome: "accepted", provider_message_id: call.provider_message_id };
    }
    if (refused) {
      // For the message's own sake, or for the line's.
      const code = dice.pick(["filtered", "invalid_sender"]);
      return { outcome: "rejected", error: failure(code), permanent: true };
    }
    const wish = dice.chance(0.5) ? { retry_after_ms: dice.between(100, 20_000) } : {};
    return { outcome: "rejected", error: failure("throttled"), permanent: false, ...wish };
  }

  lookup({ message_id }: OutboundMessage, { attempt_id, number }: AttemptMade): LookupAnswer {
    const { dice, faults, clock, trace } = this.#world;
    const call = this.calls.find((each) => each.attempt_id === attempt_id);
    const note = (found: string): void => {
      trace.note(
        [message_id, attempt_id],
        `a look-up of attempt ${number} of ${short(message_id)} finds: ${found}`,
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
    const lags = dice.chance(faults.lookupLags);
    const receipts = lags
      ? []
      : call.receipts.map(({ receipt }) => receipt).filter(({ at }) => at <= clock.now());
    note(`sent, ${receipts.length} receipts`);
    return { outcome: "sent", provider_message_id: call.provider_message_id, receipts };
  }

  /** A contact writes. */
  bring(message: Omit<InboundMessage, "provider_message_id" | "at">): void {
    const { dice, clock, faults } = this.#world;
    const delivery: Delivery = {
      message: {
        ...message,
        provider_message_id: `in-${this.inbound.length + 1}`,
        at: clock.now(),
      },
      heard: false,
    };
    this.inbound.push(delivery);
    const times = dice.chance(faults.receiptTwice) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      this.#deliver(
        dice.between(0, 2_000),
        [],
        `inbound ${delivery.message.provider_message_id}`,
        async (sink) => {
          await sink.inbound(delivery.message);
          delivery.heard = true;
        },
      );
    }
  }

  #issueReceipts(call: CarrierCall, provider_message_id: string): void {
    const { dice, faults, clock, hasReceipts } = this.#world;
    if (!hasReceipts) return;
    const now = clock.now();
    const { statuses } = dice.weighted(fates);
    let at = now;
    for (const status of statuses) {
      at += dice.between(0, 20_000);
      const receipt: Receipt =
        status === "undelivered" ? { status, at, error: failure("unreachable") } : { status, at };
      const subject = dice.chance(this.#world.echoes)
        ? { attempt_id: call.attempt_id as `att_${string}` }
        : { provider_message_id };
      const issued: IssuedReceipt = {
        subject,
        receipt,
        lost: dice.chance(faults.receiptLost),
        heard: false,
      };
      call.receipts.push(issued);
      if (issued.lost) continue;
      const times = dice.chance(faults.receiptTwice) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        // Some come before the answer to the call, and each by its own way: order is not to be relied on.
        const delay = dice.chance(faults.receiptEarly) ? 0 : at - now + dice.between(0, 30_000);
        this.#deliver(
          delay,
          [call.message.message_id],
          `receipt "${status}" of ${short(call.message.message_id)}`,
          async (sink) => {
            await sink.receipt(subject, receipt);
            issued.heard = true;
          },
          call.transport,
        );
      }
    }
  }

  /** Brings it to one engine after the other until one has taken it. */
  #deliver(
    delay: number,
    about: readonly string[],
    what: string,
    bring: Parameters<World["bring"]>[0],
    transport = carrierName,
  ): void {
    const { clock, trace, dice } = this.#world;
    this.#underway++;
    const run = async (): Promise<void> => {
      await clock.sleep(delay);
      for (;;) {
        const heard = await this.#world.bring(bring, transport);
        trace.note(
          [...about, heard.engine],
          `${what} brought to ${heard.engine}: ${heard.taken ? "taken" : "no answer"}`,
        );
        if (heard.taken) break;
        await clock.sleep(dice.between(500, 5_000));
      }
      this.#underway--;
    };
    void run();
  }
}

const fates: readonly {
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
  return { code, message: `The carrier says ${code}.` };
}
