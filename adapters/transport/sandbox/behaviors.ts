/**
 * The behavior of each sandbox number, as a table. A message's outcome depends only on the number,
 * the attempt and the channel. It can therefore be computed again at any time, also after a
 * restart.
 */
import type { Channel } from "../../../src/kernel/index.ts";
import type { CarrierErrorCode, Receipt } from "../../../src/ports/index.ts";

/**
 * The simulated carrier's answer to a send request. `lost` is an answer that never reaches the
 * engine; `sent` says whether the message was sent.
 */
export type CarrierAnswer =
  | { readonly kind: "accepted" }
  | {
      readonly kind: "refused";
      readonly code: CarrierErrorCode;
      readonly permanent: boolean;
      readonly retry_after_ms?: number;
    }
  | { readonly kind: "lost"; readonly sent: boolean };

/** A receipt of the simulated carrier. Times are in milliseconds after the attempt began. */
export interface PlannedReceipt {
  readonly status: Receipt["status"];
  /** When the carrier writes the receipt. */
  readonly at: number;
  /**
   * When the receipt reaches the engine. `before_answer` means before the carrier answers the send
   * request.
   * @default "at"
   */
  readonly arrives?: number | "before_answer";
  readonly code?: CarrierErrorCode;
}

/** A message that the recipient sends back, `at` milliseconds after the attempt began. */
export interface PlannedReply {
  readonly at: number;
  readonly body: (received: string) => string;
}

/** How a sandbox number behaves. */
export interface Behavior {
  /** What `GET /v1/sandbox/numbers` shows. */
  readonly description: string;
  readonly answer: (attempt: number, channel: Channel) => CarrierAnswer;
  readonly receipts: readonly PlannedReceipt[];
  readonly replies: readonly PlannedReply[];
}

const accepted: CarrierAnswer = { kind: "accepted" };
const sent: PlannedReceipt = { status: "sent", at: 100 };
const delivered: PlannedReceipt = { status: "delivered", at: 400 };

const refused = (
  code: CarrierErrorCode,
  permanent: boolean,
  retry_after_ms?: number,
): CarrierAnswer =>
  retry_after_ms === undefined
    ? { kind: "refused", code, permanent }
    : { kind: "refused", code, permanent, retry_after_ms };

function behavior(description: string, rest: Partial<Behavior> = {}): Behavior {
  return { description, answer: () => accepted, receipts: [sent, delivered], replies: [], ...rest };
}

/** The behavior of every number that is not in the table. */
const defaultBehavior: Behavior = behavior("delivered");

const undelivered = (code: CarrierErrorCode): PlannedReceipt => ({
  status: "undelivered",
  at: 400,
  code,
});

/** Behaviors by the last four digits of the number. */
const table: readonly (readonly [ending: string, behavior: Behavior])[] = [
  ["0001", defaultBehavior],
  [
    "0002",
    behavior("delivered after 30 s", { receipts: [sent, { status: "delivered", at: 30_000 }] }),
  ],
  [
    "0003",
    behavior("undelivered: handset unreachable", { receipts: [sent, undelivered("unreachable")] }),
  ],
  ["0004", behavior("undelivered: filtered", { receipts: [sent, undelivered("filtered")] })],
  [
    "0005",
    behavior("failed: invalid destination", {
      answer: () => refused("invalid_destination", true),
    }),
  ],
  ["0006", behavior("failed: landline", { answer: () => refused("landline", true) })],
  [
    "0007",
    behavior("throttled twice with retry-after, then delivered", {
      answer: (attempt) => (attempt <= 2 ? refused("throttled", false, 2_000) : accepted),
    }),
  ],
  [
    "0008",
    behavior("carrier error three times, then delivered", {
      answer: (attempt) => (attempt <= 3 ? refused("carrier_unavailable", false) : accepted),
    }),
  ],
  ["0009", behavior("never a receipt: unconfirmed", { receipts: [] })],
  ["0010", behavior("receipts twice", { receipts: [sent, sent, delivered, delivered] })],
  ["0011", behavior("receipts in reverse", { receipts: [delivered, { ...sent, arrives: 600 }] })],
  [
    "0012",
    behavior("receipt before the answer", {
      receipts: [{ status: "delivered", at: 0, arrives: "before_answer" }],
    }),
  ],
  [
    "0013",
    behavior("answer lost, was sent: a receipt settles it", {
      answer: () => ({ kind: "lost", sent: true }),
    }),
  ],
  [
    "0014",
    behavior("answer lost, was not sent: a look-up settles it, then delivered", {
      answer: (attempt) => (attempt === 1 ? { kind: "lost", sent: false } : accepted),
    }),
  ],
  [
    "0015",
    behavior("delivered, then replies", {
      // With four words, the loop guard of an agent that answers it acts after three.
      replies: [{ at: 1_500, body: () => "Thanks, I got it!" }],
    }),
  ],
  [
    "0016",
    behavior("delivered, then replies STOP", { replies: [{ at: 1_500, body: () => "STOP" }] }),
  ],
  ["0017", behavior("read", { receipts: [sent, delivered, { status: "read", at: 1_200 }] })],
  [
    "0018",
    behavior("refuses MMS", {
      answer: (_attempt, channel) =>
        channel === "mms" ? refused("unsupported_channel", true) : accepted,
    }),
  ],
  [
    "0019",
    behavior("delivered, then a late contradiction", {
      receipts: [sent, delivered, { status: "undelivered", at: 3_000, code: "unreachable" }],
    }),
  ],
  [
    "0020",
    behavior("a bot that answers everything", {
      replies: [
        { at: 800, body: (received) => `You wrote: ${[...received].slice(0, 100).join("")}` },
      ],
    }),
  ],
];

const numberOf = (ending: string): string => `+1500555${ending}`;

const byNumber: ReadonlyMap<string, Behavior> = new Map(
  table.map(([ending, each]) => [numberOf(ending), each]),
);

/** Returns the behavior of a number. */
export function behaviorOf(number: string): Behavior {
  return byNumber.get(number) ?? defaultBehavior;
}

/** All sandbox numbers with descriptions of their behavior. */
export const sandboxNumbers = table.map(([ending, { description }]) => ({
  number: numberOf(ending),
  behavior: description,
}));
