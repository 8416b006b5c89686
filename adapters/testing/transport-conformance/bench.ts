import type { AttemptId } from "../../../src/kernel/index.ts";
import {
  type CallbackRequest,
  type InboundMessage,
  type OutboundMessage,
  type Receipt,
  type ReceiptSubject,
  type SendAnswer,
  type SendContext,
  silent,
  type Transport,
} from "../../../src/ports/index.ts";
import { type VirtualClock, virtualClock } from "../simulated.ts";
import { holds, Mismatch } from "../checks.ts";
import type { Checks } from "../suite.ts";

/**
 * How the carrier treats a message. `loses_answer`: the carrier accepts it, but the connection
 * breaks before the answer. `fails`: the carrier reports an error, and it is not known whether it
 * accepted the message. `hangs`: the carrier accepts it and never answers.
 */
export type CarrierBehavior =
  "accepts" | "refuses" | "throttles" | "loses_answer" | "fails" | "hangs";

/** What a test can require of a transport and its carrier. */
export type Need = CarrierBehavior | "look-ups" | "callbacks" | "pushes";

/** A transport and a simulated carrier. */
export interface TransportUnderTest {
  /** The transport, not yet started. The suite starts and stops it. */
  readonly transport: Transport;
  /** A message that the carrier treats in this way. Two calls may return equal messages. */
  message(fate: CarrierBehavior): OutboundMessage;
  /** How many messages the carrier has accepted so far, if the simulated carrier counts them. */
  taken?(): number;
  /** Makes the carrier's callbacks, if the transport has `parseCallback`. */
  readonly callbacks?: CarrierCallbacks | undefined;
  /** Called after the test. */
  remove?(): Promise<void>;
}

/** Creates callback requests, signed by the carrier. `at` is in milliseconds since the epoch. */
export interface CarrierCallbacks {
  /**
   * A callback with a receipt of a message. Undefined when the carrier never reports this status.
   */
  receipt(of: TakenMessage, status: Receipt["status"], at: number): CallbackRequest | undefined;
  /** A callback with a message from a contact. */
  inbound(message: InboundMessage): CallbackRequest;
}

/** A message that the carrier accepted, with the ids of the engine and of the carrier. */
export interface TakenMessage {
  /** The id of the attempt in which the message was sent. */
  readonly attempt_id: AttemptId;
  /** The carrier's id of the message. */
  readonly provider_message_id: string;
  /** The message as it was sent. */
  readonly message: OutboundMessage;
}

/** The transport of one test, on virtual time. */
export class Bench {
  readonly under: TransportUnderTest;
  readonly clock: VirtualClock;
  /** The receipts that the transport passed to its sink. */
  readonly receipts: { readonly subject: ReceiptSubject; readonly receipt: Receipt }[] = [];
  #attempts = 0;

  constructor(under: TransportUnderTest, clock: VirtualClock) {
    this.under = under;
    this.clock = clock;
  }

  get transport(): Transport {
    return this.under.transport;
  }

  async start(): Promise<void> {
    await this.transport.start?.({
      sink: {
        receipt: async (subject, receipt) => void this.receipts.push({ subject, receipt }),
        inbound: async () => {},
      },
      clock: this.clock,
      logger: silent,
    });
  }

  /** A first attempt with a new id. */
  attempt(signal: AbortSignal = new AbortController().signal): SendContext {
    const attempt_id: AttemptId = `att_01JZ${String(++this.#attempts).padStart(22, "0")}`;
    return { attempt_id, number: 1, started_at: this.clock.now(), signal };
  }

  /** Sends a message and checks the answer against what the carrier accepted. */
  async send(message: OutboundMessage, attempt: SendContext): Promise<SendAnswer> {
    const before = this.under.taken?.() ?? 0;
    const answer = await this.transport.send(message, attempt);
    const taken = (this.under.taken?.() ?? before) - before;
    if (answer.outcome === "rejected") {
      holds(taken === 0, "a carrier without a message that was `rejected`", `${taken} messages`);
    }
    const isOnce = this.under.taken === undefined || taken === 1;
    if (answer.outcome === "accepted") {
      holds(isOnce, "a carrier with one message that was `accepted`", `${taken} messages`);
    }
    return answer;
  }

  /** Sends a message that the carrier accepts. */
  async taken(): Promise<TakenMessage> {
    const message = this.under.message("accepts");
    const attempt = this.attempt();
    const answer = await this.send(message, attempt);
    if (answer.outcome !== "accepted") throw new Mismatch("the outcome accepted", answer.outcome);
    const { provider_message_id } = answer;
    return { attempt_id: attempt.attempt_id, provider_message_id, message };
  }
}

/** Why a transport cannot meet the need of a test; undefined when it can. */
function lacking(need: Need, transport: Transport): string | undefined {
  const { receipts } = transport.capabilities;
  const callsBack = transport.parseCallback !== undefined;
  if (need === "look-ups" && transport.lookup === undefined) return "it has no `lookup`";
  if (need === "callbacks" && !callsBack) return "it has no `parseCallback`";
  const pushes = !callsBack && receipts !== "none";
  return need === "pushes" && !pushes ? "it pushes no receipts" : undefined;
}

export async function runOnBench(
  create: (clock: VirtualClock) => Promise<TransportUnderTest>,
  needs: readonly Need[],
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const clock = virtualClock();
  const under = await create(clock);
  const bench = new Bench(under, clock);
  try {
    for (const need of needs) {
      const reason = lacking(need, under.transport);
      if (reason !== undefined) {
        throw new Error(`${reason}: set \`unable["${need}"]\` to the reason`);
      }
    }
    await bench.start();
    await run(bench);
  } finally {
    await under.transport.stop?.();
    await under.remove?.();
  }
}

export type TransportChecks = Checks<Bench, Need>;
