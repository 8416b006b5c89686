import type { AttemptId } from "../../kernel/index.ts";
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
} from "../../ports/index.ts";
import { type VirtualClock, virtualClock } from "../virtual-clock.ts";
import { holds } from "../storage-conformance/checks.ts";

/**
 * What the carrier makes of a message. `loses_answer`: it takes it, and the line breaks before it could say so. `fails`: it says that
 * something went wrong, and whether it took the message nobody knows. `hangs`: it takes it, and says nothing.
 */
export type Fate = "accepts" | "refuses" | "throttles" | "loses_answer" | "fails" | "hangs";

/** What the suite can ask of a carrier. */
export type Need = Fate | "look-ups" | "callbacks" | "pushes";

/** A transport, and a stand-in for its carrier. */
export interface TransportUnderTest {
  readonly transport: Transport;
  /** A message that the carrier treats so. Two that are asked for may be the same. */
  message(fate: Fate): OutboundMessage;
  /** How many messages the carrier has taken so far, where the stand-in can tell. */
  taken?(): number;
  readonly callbacks?: CarrierCallbacks;
  /** Called when the test is over. */
  remove?(): Promise<void>;
}

/** Requests as the carrier makes and signs them at `at`, in milliseconds. */
export interface CarrierCallbacks {
  /** Undefined where the carrier never tells of that status. */
  receipt(of: TakenMessage, status: Receipt["status"], at: number): CallbackRequest | undefined;
  inbound(message: InboundMessage): CallbackRequest;
}

/** A message that the carrier took, under both its names. */
export interface TakenMessage {
  readonly attempt_id: AttemptId;
  readonly provider_message_id: string;
  readonly message: OutboundMessage;
}

/** One test's transport at work, on virtual time. */
export class Bench {
  readonly under: TransportUnderTest;
  readonly clock: VirtualClock;
  /** What came through the sink. */
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

  /** A message's first attempt, under an id of its own. */
  attempt(signal: AbortSignal = new AbortController().signal): SendContext {
    const attempt_id: AttemptId = `att_01JZ${String(++this.#attempts).padStart(22, "0")}`;
    return { attempt_id, number: 1, started_at: this.clock.now(), signal };
  }

  /** Sends, and holds the answer against what the carrier has. */
  async send(message: OutboundMessage, attempt: SendContext): Promise<SendAnswer> {
    const before = this.under.taken?.() ?? 0;
    const answer = await this.transport.send(message, attempt);
    const taken = (this.under.taken?.() ?? before) - before;
    if (answer.outcome === "rejected") {
      holds(taken === 0, "said that the message was surely not sent, and the carrier has it");
    }
    const isTold = this.under.taken === undefined || taken === 1;
    if (answer.outcome === "accepted") {
      holds(isTold, `said that the carrier has the message, and it has ${taken}`);
    }
    return answer;
  }

  /** A message that the carrier took and said so. */
  async taken(): Promise<TakenMessage> {
    const message = this.under.message("accepts");
    const attempt = this.attempt();
    const answer = await this.send(message, attempt);
    if (answer.outcome !== "accepted") {
      throw new Error(`expected the message to be accepted, and it was ${answer.outcome}`);
    }
    const { provider_message_id } = answer;
    return { attempt_id: attempt.attempt_id, provider_message_id, message };
  }
}

/** Why a transport has not what a test needs of it. */
function lacking(need: Need, transport: Transport): string | undefined {
  const { receipts } = transport.capabilities;
  const callsBack = transport.parseCallback !== undefined;
  if (need === "look-ups" && transport.lookup === undefined) return "it can't look up";
  if (need === "callbacks" && !callsBack) return "its carrier doesn't call back";
  const pushes = !callsBack && receipts !== "none";
  return need === "pushes" && !pushes ? "it brings no receipts by itself" : undefined;
}

export async function onBench(
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
      if (reason !== undefined) throw new Error(`${reason}: say so in "unable", under "${need}"`);
    }
    await bench.start();
    await run(bench);
  } finally {
    await under.transport.stop?.();
    await under.remove?.();
  }
}

/** A sentence that holds for every transport, what it needs of the carrier, and how it is tried. */
export interface Case {
  readonly needs: readonly Need[];
  readonly run: (bench: Bench) => Promise<void>;
}
