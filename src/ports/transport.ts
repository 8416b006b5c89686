/**
 * A transport hands messages to a carrier and reports the carrier's receipts and inbound messages.
 *
 * The answer to a send is one of three outcomes. *accepted*: the carrier has the message.
 * *rejected*: the message was certainly not sent. *ambiguous*: the message may have been sent. The
 * engine sends it again only after a look-up returns `not_sent`, or at once if a route has
 * `fallBackAfter: ["ambiguous"]`.
 */
import type { AttemptId, Channel, MessageId, Mode } from "../kernel/index.ts";
import type { Clock, Logger } from "./environment.ts";

/** The engine's built-in transport. No other transport may have this name. */
export const webchatTransportName = "webchat";

export interface Media {
  readonly url: string;
  readonly content_type?: string | undefined;
}

/** A message to send. Addresses are E.164 phone numbers or webchat addresses. */
export interface OutboundMessage {
  readonly message_id: MessageId;
  readonly account_id: string;
  readonly mode: Mode;
  readonly channel: Channel;
  readonly from: string;
  readonly to: string;
  readonly body: string;
  readonly media: readonly Media[];
}

/** One attempt to send a message. Each has a new `attempt_id`, committed before the call. */
export interface Attempt {
  readonly attempt_id: AttemptId;
  /** 1 for the first attempt of a message. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

/** An attempt with the id that the carrier assigned. The id is null if no answer came. */
export interface AttemptMade extends Attempt {
  readonly provider_message_id: string | null;
}

export interface SendContext extends Attempt {
  /** Aborts at the attempt's deadline. The engine still accepts a later answer. */
  readonly signal: AbortSignal;
}

/** The engine's error codes. `provider_code` holds the carrier's own code. */
export const carrierErrorCodes = [
  "invalid_destination",
  "landline",
  "unreachable",
  "filtered",
  "opted_out",
  "unsupported_channel",
  "unsupported_media",
  "invalid_sender",
  "content_rejected",
  "throttled",
  "carrier_unavailable",
  "unauthorized",
  "answer_lost",
  "unknown",
] as const;
export type CarrierErrorCode = (typeof carrierErrorCodes)[number];

/** Errors that would recur if the same message were sent again. */
export const permanentReasons: ReadonlySet<CarrierErrorCode> = new Set<CarrierErrorCode>([
  "invalid_destination",
  "landline",
  "filtered",
  "opted_out",
  "unsupported_channel",
  "unsupported_media",
  "invalid_sender",
  "content_rejected",
]);

export interface CarrierError {
  readonly code: CarrierErrorCode;
  readonly message: string;
  readonly provider_code?: string;
}

export type SendAnswer =
  | { readonly outcome: "accepted"; readonly provider_message_id: string }
  | {
      readonly outcome: "rejected";
      readonly error: CarrierError;
      /** True if a retry cannot succeed. */
      readonly permanent: boolean;
      readonly retry_after_ms?: number;
    }
  | { readonly outcome: "ambiguous"; readonly error: CarrierError };

/** A carrier's report on an accepted message. `at` is the carrier's time, in milliseconds. */
export interface Receipt {
  readonly status: "sent" | "delivered" | "undelivered" | "read";
  readonly at: number;
  readonly error?: CarrierError;
}

/**
 * Identifies the attempt of a receipt: by the provider's id, or by the attempt's id if the carrier
 * echoes it. With both, the engine can store the provider's id of an attempt whose answer was lost.
 */
export type ReceiptSubject =
  | { readonly provider_message_id: string }
  | { readonly attempt_id: AttemptId; readonly provider_message_id?: string };

/** A message that the carrier has, with its receipts. */
export interface CarriedMessage {
  readonly provider_message_id: string;
  readonly receipts: readonly Receipt[];
}

/**
 * The answer to a look-up.
 * - `not_sent`: the carrier certainly never received the message and never will. The engine sends
 *   it again.
 * - `alike`: the carrier cannot tell attempts apart, and these messages match. The message counts
 *   as sent if exactly one of them belongs to no other attempt. Otherwise its state stays unknown.
 */
export type LookupAnswer =
  | ({ readonly outcome: "sent" } & CarriedMessage)
  | { readonly outcome: "alike"; readonly messages: readonly CarriedMessage[] }
  | { readonly outcome: "not_sent" }
  | { readonly outcome: "unknown" };

export interface InboundMessage {
  /** Identifies the message: a repeated id is ignored as a duplicate. */
  readonly provider_message_id: string;
  readonly channel: Channel;
  readonly from: string;
  /** The address of the sender that received it, which determines the account. */
  readonly to: string;
  readonly body: string;
  readonly media: readonly Media[];
  readonly at: number;
}

/** Receives the carrier's reports from a transport. Resolves when they are committed. */
export interface TransportSink {
  receipt(subject: ReceiptSubject, receipt: Receipt): Promise<void>;
  /**
   * Pass `account_id` if one transport serves several accounts under the same address, like the
   * sandbox.
   */
  inbound(message: InboundMessage, account_id?: string): Promise<void>;
}

/** The context that a transport gets when the engine starts. Simulated carriers use its clock. */
export interface TransportContext {
  readonly sink: TransportSink;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TransportCapabilities {
  readonly channels: readonly Channel[];
  /** The modes whose messages the transport may carry. */
  readonly modes: readonly Mode[];
  /**
   * `none`: an accepted message counts as delivered. Otherwise a message without a final receipt
   * after `timeout_ms` is unconfirmed. Before that the engine looks it up at each of `lookups_ms`
   * after its hand-over, if the transport has `lookup`.
   */
  readonly receipts:
    "none" | { readonly timeout_ms: number; readonly lookups_ms: readonly number[] };
  /** Whether the carrier itself confirms opt-outs to the contact. */
  readonly confirms_opt_outs: boolean;
}

/**
 * An unmodified carrier request to `/v1/transports/:name/callbacks`. Header names are in lower
 * case.
 */
export interface CallbackRequest {
  readonly method: string;
  /** The path and query that the carrier requested. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /**
   * By the engine's clock, in milliseconds. Use it to check the age of a signature, and as the time
   * of a report without its own time.
   */
  readonly received_at: number;
}

export interface CallbackResult {
  readonly receipts: readonly { readonly subject: ReceiptSubject; readonly receipt: Receipt }[];
  readonly inbound: readonly InboundMessage[];
  /** The response to the carrier, sent after the receipts and messages are committed. */
  readonly response: {
    readonly status: number;
    readonly content_type?: string;
    readonly body?: string;
  };
}

/** A number of a simulated carrier, with a description of the outcome of messages to it. */
export interface TestNumber {
  readonly number: string;
  readonly behaviour: string;
}

export interface Transport {
  /** Unique in an engine. Part of the path of its callbacks. */
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  /** Numbers with a fixed outcome, if the carrier is simulated. */
  readonly test_numbers?: readonly TestNumber[];
  /**
   * Returns the carrier's errors as answers. The engine treats an exception as an ambiguous answer.
   */
  send(message: OutboundMessage, context: SendContext): Promise<SendAnswer>;
  /** Finds the outcome of an attempt whose answer was lost or whose receipts are missing. */
  lookup?(message: OutboundMessage, attempt: AttemptMade): Promise<LookupAnswer>;
  /**
   * Verifies the signature of a callback and parses it. Callbacks may repeat and arrive in any
   * order.
   * @throws TidingsError `invalid_signature` if the signature does not match
   */
  parseCallback?(request: CallbackRequest): Promise<CallbackResult>;
  /** Called when an engine starts. A later engine may start the same object again after `stop`. */
  start?(context: TransportContext): Promise<void>;
  stop?(): Promise<void>;
}
