import type { AttemptId, Channel, MessageId, Mode } from "../kernel/index.ts";
/**
 * A transport hands messages to a carrier and brings back what the carrier says of them.
 *
 * An answer is honest about what it knows. *accepted*: the carrier has it. *rejected*: it surely was not sent.
 * *ambiguous*: it may have been; it is never sent again unless a look-up or the host says so.
 */
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** The engine's own transport: no other may have its name. */
export const webchatTransportName = "webchat";

export interface Media {
  readonly url: string;
  readonly content_type?: string | undefined;
}

/** What is handed over. Addresses are E.164 phone numbers, or a webchat address. */
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

/** One try to hand a message over. `attempt_id` is new for each, and was committed before the call. */
export interface Attempt {
  readonly attempt_id: AttemptId;
  /** 1 for a message's first. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly started_at: number;
}

/** An attempt, and what the carrier called it, where its answer came. */
export interface AttemptMade extends Attempt {
  readonly provider_message_id: string | null;
}

export interface SendContext extends Attempt {
  /** Aborts at the attempt's deadline. What answers later is still heard. */
  readonly signal: AbortSignal;
}

/** The engine's symbolic reasons; `provider_code` keeps the carrier's own. */
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

/** Reasons that the same message would meet again. */
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
      /** True when trying again can't help. */
      readonly permanent: boolean;
      readonly retry_after_ms?: number;
    }
  | { readonly outcome: "ambiguous"; readonly error: CarrierError };

/** What a carrier said of a message after it took it. `at` is the carrier's time, in milliseconds. */
export interface Receipt {
  readonly status: "sent" | "delivered" | "undelivered" | "read";
  readonly at: number;
  readonly error?: CarrierError;
}

/**
 * Says which attempt a receipt belongs to: by the provider's id, or by the attempt's where the carrier echoes it. Given both, an attempt
 * whose answer was lost learns what the carrier calls it.
 */
export type ReceiptSubject =
  | { readonly provider_message_id: string }
  | { readonly attempt_id: AttemptId; readonly provider_message_id?: string };

/** A message that the carrier has, and what it says of it. */
export interface CarriedMessage {
  readonly provider_message_id: string;
  readonly receipts: readonly Receipt[];
}

/**
 * `not_sent` only when the carrier surely never had it and never will: then the message is sent again. `alike`: the carrier can't tell
 * attempts apart, and these could be it; the message is *sent* where just one of them is no other attempt's, else nothing is known.
 */
export type LookupAnswer =
  | ({ readonly outcome: "sent" } & CarriedMessage)
  | { readonly outcome: "alike"; readonly messages: readonly CarriedMessage[] }
  | { readonly outcome: "not_sent" }
  | { readonly outcome: "unknown" };

export interface InboundMessage {
  /** Seen twice, it makes one message. */
  readonly provider_message_id: string;
  readonly channel: Channel;
  readonly from: string;
  /** The sender's address that it came to; it says whose account this is. */
  readonly to: string;
  readonly body: string;
  readonly media: readonly Media[];
  readonly at: number;
}

/** Where a transport brings what the carrier says; resolves when it is committed. */
export interface TransportSink {
  receipt(subject: ReceiptSubject, receipt: Receipt): Promise<void>;
  /** `account_id` is given where one transport serves senders of several accounts under one address (the sandbox). */
  inbound(message: InboundMessage, account_id?: string): Promise<void>;
}

/** What a transport is given when the engine starts. A simulated carrier keeps the engine's time. */
export interface TransportContext {
  readonly sink: TransportSink;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TransportCapabilities {
  readonly channels: readonly Channel[];
  /** The modes that it may carry. A sandbox transport never sees live messages, nor the other way round. */
  readonly modes: readonly Mode[];
  /**
   * `none`: accepted counts as delivered. Otherwise a message without a final receipt after `timeout_ms` is unconfirmed;
   * before that it is looked up at each of `lookups_ms` after its hand-over, if the transport can look up.
   */
  readonly receipts:
    "none" | { readonly timeout_ms: number; readonly lookups_ms: readonly number[] };
  /** The carrier confirms opt-outs itself. */
  readonly confirms_opt_outs: boolean;
}

/** A carrier's request at `/v1/transports/:name/callbacks`, untouched. Header names are in lower case. */
export interface CallbackRequest {
  readonly method: string;
  /** Path and query as the carrier called it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** By the engine's clock, in milliseconds: for a signature that ages, and where the carrier gives no time of its own. */
  readonly received_at: number;
}

export interface CallbackResult {
  readonly receipts: readonly { readonly subject: ReceiptSubject; readonly receipt: Receipt }[];
  readonly inbound: readonly InboundMessage[];
  /** What the carrier is answered once all of that is committed. */
  readonly response: {
    readonly status: number;
    readonly content_type?: string;
    readonly body?: string;
  };
}

/** A number of a simulated carrier, and in words what becomes of a message to it. */
export interface TestNumber {
  readonly number: string;
  readonly behaviour: string;
}

export interface Transport {
  /** Unique in an engine; in the path of its callbacks. */
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  /** Numbers whose fate is known, where the carrier is simulated. */
  readonly test_numbers?: readonly TestNumber[];
  /** Never throws for what the carrier says; a throw is an ambiguous answer. */
  send(message: OutboundMessage, context: SendContext): Promise<SendAnswer>;
  /** What became of an attempt whose answer was lost or whose receipts stay away. */
  lookup?(message: OutboundMessage, attempt: AttemptMade): Promise<LookupAnswer>;
  /**
   * Reads what the carrier tells, once its signature is verified. The same bytes may come again, and in any order.
   * @throws TidingsError `invalid_signature` when it is forged
   */
  parseCallback?(request: CallbackRequest): Promise<CallbackResult>;
  /** Called when the engine starts; again after `stop`. */
  start?(context: TransportContext): Promise<void>;
  stop?(): Promise<void>;
}
