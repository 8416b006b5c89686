import { setTimeout as pause } from "node:timers/promises";
import { hasMethods, type AttemptId } from "../../../../src/kernel/index.ts";
import {
  carrierErrorCodes,
  silent,
  type CallbackRequest,
  type CarrierError,
  type InboundMessage,
  type OutboundMessage,
  type Receipt,
  type ReceiptSubject,
  type SendAnswer,
  type SendContext,
  type Transport,
} from "../../../../src/ports/index.ts";
import { virtualClock, type VirtualClock } from "../../simulated/virtual-clock.ts";
import { holds, Mismatch, same } from "../checks.ts";
import { checkReturned, type Checks } from "../suite.ts";

/**
 * How the carrier treats a message. `accepts`: it accepts it. `refuses`: it refuses it for good.
 * `throttles`: it refuses it because of too many messages. `loses_answer`: it accepts it, but the
 * connection breaks before the answer. `fails`: it accepts it, but reports an error that leaves
 * that open, such as a status 503. `hangs`: it accepts it and never answers.
 */
export type CarrierBehavior =
  "accepts" | "refuses" | "throttles" | "loses_answer" | "fails" | "hangs";

/**
 * What a test can require of a transport and its carrier: a behavior, `look-ups`, `callbacks`,
 * `media-types`, which are the types of inbound files, or `pushes`, which are receipts without
 * callbacks, for example over a socket.
 */
export type TransportNeed = CarrierBehavior | "look-ups" | "callbacks" | "media-types" | "pushes";

/** A transport and a simulated carrier. */
export interface TransportUnderTest {
  /** The transport, not yet started. The suite starts and stops it. */
  readonly transport: Transport;
  /** A message that the carrier treats in this way. Two calls may return equal messages. */
  message(behavior: CarrierBehavior): OutboundMessage;
  /**
   * How many messages the carrier has accepted so far. With it, the suite notices a wrong
   * `rejected` and a message that was sent twice. A carrier that is a real server needs it: the
   * suite then waits until a message that hangs has arrived.
   */
  accepted?(): number;
  /**
   * The messages that the carrier has accepted so far, in their order. With it, the suite checks
   * that each arrives as the engine gave it to the transport, and does not need `accepted`. It then
   * also sends messages with texts of its own, and with files if the transport carries MMS. Their
   * other fields are those of a message that the carrier `accepts`.
   */
  received?(): readonly ReceivedMessage[];
  /**
   * The pause that the carrier asks for when it `throttles` a message, in milliseconds. With it,
   * the suite checks that the transport passes it on.
   */
  readonly retryAfterMs?: number | undefined;
  /** Makes the carrier's callbacks, if the transport has `parseCallback`. */
  readonly callbacks?: CarrierCallbacks | undefined;
  /** Called after the test. */
  remove?(): Promise<void>;
}

/** A message as the carrier got it. */
export interface ReceivedMessage {
  /** The sender. */
  readonly from: string;
  /** The recipient. */
  readonly to: string;
  /** The text. Empty if the message has only files. */
  readonly body: string;
  /** The URLs of its files, in their order. */
  readonly media: readonly string[];
}

/** Creates callback requests, signed by the carrier. `at` is in milliseconds since the epoch. */
export interface CarrierCallbacks {
  /**
   * A callback with a receipt of a message. Undefined when the carrier never reports this status.
   */
  receipt(of: AcceptedMessage, status: Receipt["status"], at: number): CallbackRequest | undefined;
  /**
   * A callback with a message from a contact. The carrier may give the message another id. Messages
   * with different ids keep different ids.
   */
  inbound(message: InboundMessage): CallbackRequest;
}

/** A message that the carrier accepted, with the ids of the engine and of the carrier. */
export interface AcceptedMessage {
  /** The id of the attempt in which the message was sent. */
  readonly attempt_id: AttemptId;
  /** The carrier's id of the message. */
  readonly provider_message_id: string;
  /** The message as it was sent. */
  readonly message: OutboundMessage;
}

/** How long a message may take to reach a carrier, in milliseconds of the real clock. */
const arrivalMs = 5_000;
const arrivalStepMs = 5;

/** A time below this one is in seconds, and one above it in milliseconds. */
const earliestMs = 1e11;
export const receiptStatuses: readonly Receipt["status"][] = [
  "sent",
  "delivered",
  "undelivered",
  "read",
];

/**
 * Fails unless a receipt has a form that the engine accepts. A receipt of a look-up may have no
 * time: the engine then takes its own.
 */
export function checkReceiptForm({ status, at, error }: Receipt): void {
  holds(receiptStatuses.includes(status), "a status of a `Receipt`", status);
  holds(
    !Number.isFinite(at) || at > earliestMs,
    `milliseconds since the epoch as the time of a receipt with the status ${status}`,
    at,
  );
  if (error) checkErrorForm(error);
}

/** Fails unless the engine accepts an error of a carrier. */
export function checkErrorForm(error: CarrierError): void {
  holds(carrierErrorCodes.includes(error.code), "a `CarrierErrorCode`", error.code);
  holds(error.message !== "", "an error with a message", error);
}

/** Fails unless the carrier received a message as it was sent. */
function checkReceived({ from, to, body, media }: ReceivedMessage, sent: OutboundMessage): void {
  const urls = sent.media.map(({ url }) => url);
  const written = { from: sent.from, to: sent.to, body: sent.body, media: urls };
  same({ from, to, body, media }, written, "the message that the carrier received");
}

/** The transport of one test, on virtual time. */
export class Fixture {
  readonly underTest: TransportUnderTest;
  readonly clock: VirtualClock;
  /** The receipts that the transport passed to its sink. */
  readonly receipts: { readonly subject: ReceiptSubject; readonly receipt: Receipt }[] = [];
  #attempts = 0;

  constructor(underTest: TransportUnderTest, clock: VirtualClock) {
    this.underTest = underTest;
    this.clock = clock;
  }

  get transport(): Transport {
    return this.underTest.transport;
  }

  /** How many messages the carrier has accepted so far. Undefined if it does not tell. */
  get accepted(): number | undefined {
    return this.underTest.received?.().length ?? this.underTest.accepted?.();
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
    const before = this.accepted ?? 0;
    const answer = await this.transport.send(message, attempt);
    const count = (this.accepted ?? before) - before;
    if (answer.outcome === "rejected") {
      holds(count === 0, "a carrier without a message that was `rejected`", `${count} messages`);
    }
    const isOnce = this.accepted === undefined || count === 1;
    if (answer.outcome === "accepted") {
      holds(isOnce, "a carrier with one message that was `accepted`", `${count} messages`);
    }
    for (const received of this.underTest.received?.().slice(before) ?? []) {
      checkReceived(received, message);
    }
    return answer;
  }

  /**
   * Begins to send a message that the carrier accepts without ever answering, and resolves with the
   * call when the carrier has the message. On a real socket that takes real time.
   */
  async hang(attempt: SendContext): Promise<{ readonly call: Promise<SendAnswer> }> {
    const before = this.accepted;
    const call = this.send(this.underTest.message("hangs"), attempt);
    // A call that fails early is not awaited before the message has arrived.
    call.catch(() => {});
    await this.clock.settle();
    let waitedMs = 0;
    while (before !== undefined && this.accepted === before) {
      holds(waitedMs < arrivalMs, "a message that `hangs` at the carrier within 5 s", "none");
      await pause(arrivalStepMs);
      waitedMs += arrivalStepMs;
    }
    return { call };
  }

  /** Sends a message that the carrier accepts, with these changes. */
  async sendAccepted(changes: Partial<OutboundMessage> = {}): Promise<AcceptedMessage> {
    const message = { ...this.underTest.message("accepts"), ...changes };
    const attempt = this.attempt();
    const answer = await this.send(message, attempt);
    if (answer.outcome !== "accepted") throw new Mismatch("the outcome accepted", answer.outcome);
    const { provider_message_id } = answer;
    // Transports in JavaScript may leave it out.
    const id: unknown = provider_message_id;
    holds(
      typeof id === "string" && id !== "" && id.length <= 255,
      "a `provider_message_id` of 1 to 255 characters",
      id,
    );
    return { attempt_id: attempt.attempt_id, provider_message_id, message };
  }
}

/** Why a transport cannot meet the need of a test. Undefined if it can. */
function lacking(need: TransportNeed, transport: Transport): string | undefined {
  const { receipts } = transport.capabilities;
  const callsBack = transport.parseCallback !== undefined;
  if (need === "look-ups" && transport.lookup === undefined) return "it has no `lookup`";
  if (need === "callbacks" && !callsBack) return "it has no `parseCallback`";
  const pushes = !callsBack && receipts !== "none";
  return need === "pushes" && !pushes ? "it pushes no receipts" : undefined;
}

export async function runWithFixture(
  create: (clock: VirtualClock) => Promise<TransportUnderTest>,
  needs: readonly TransportNeed[],
  run: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const clock = virtualClock();
  const underTest = await create(clock);
  checkReturned(
    "transportConformance: create()",
    underTest,
    "{ transport, message }, with a transport that has `send`",
    hasMethods(underTest, "message") && hasMethods(underTest.transport, "send"),
  );
  const fixture = new Fixture(underTest, clock);
  try {
    for (const need of needs) {
      const reason = lacking(need, underTest.transport);
      if (reason !== undefined) {
        throw new Error(`${reason}: set \`unable["${need}"]\` to the reason`);
      }
    }
    await fixture.start();
    await run(fixture);
  } finally {
    await underTest.transport.stop?.();
    await underTest.remove?.();
  }
}

export type TransportChecks = Checks<Fixture, TransportNeed>;
