/**
 * A transport hands messages to a carrier and reports the carrier's receipts and inbound messages.
 *
 * The answer to a send is one of three outcomes. *accepted*: the carrier has the message.
 * *rejected*: the message was certainly not sent. *ambiguous*: the message may have been sent. The
 * engine sends it again only after a look-up returns `not_sent`, or at once if a route has
 * `fallBackAfter: ["ambiguous"]`.
 */
import type { AttemptId, Channel, MessageId, Mode } from "../kernel/index.ts";
import type { CarrierError } from "./carrier-errors.ts";
import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** The engine's built-in transport. No other transport may have this name. */
export const webchatTransportName = "webchat";

/** An image, sound or file. The carrier fetches it from the URL. */
export interface Media {
  /** The http or https URL from which the file is fetched. */
  readonly url: string;
  /** The media type, such as `image/png`, if it is known. */
  readonly content_type?: string | undefined;
}

/** A message to send. */
export interface OutboundMessage {
  /** The id of the message. */
  readonly message_id: MessageId;
  /** The account that sends the message. */
  readonly account_id: string;
  /** The mode of the message. A transport gets only messages of its `capabilities.modes`. */
  readonly mode: Mode;
  /** How the message travels. A transport gets only messages of its `capabilities.channels`. */
  readonly channel: Channel;
  /** The address of the sender: a phone number, a short code, a name or a webchat inbox. */
  readonly from: string;
  /** The recipient: a phone number in E.164 form, or a webchat address. */
  readonly to: string;
  /** The text. Empty if the message has only media. */
  readonly body: string;
  /** The files, in the order of the message. Empty for most messages. */
  readonly media: readonly Media[];
}

/** One attempt to send a message. Each has a new `attempt_id`, committed before the call. */
export interface Attempt {
  /** The id of the attempt. A carrier that takes a reference can echo it in its receipts. */
  readonly attempt_id: AttemptId;
  /** 1 for the first attempt of a message. */
  readonly number: number;
  /** When the attempt began, in milliseconds since the epoch. */
  readonly started_at: number;
}

/** The attempt in which a transport sends a message. */
export interface SendContext extends Attempt {
  /** Aborts at the attempt's deadline. The engine still accepts a later answer. */
  readonly signal: AbortSignal;
}

/** The earlier attempt that a transport looks up. */
export interface LookupContext extends Attempt {
  /** The carrier's id of the message. Null if no answer came. */
  readonly provider_message_id: string | null;
  /**
   * Aborts 25 seconds after the call, and when the engine begins to stop. The result is not used
   * then, and the look-up is made again later.
   */
  readonly signal: AbortSignal;
}

/** The outcome of an attempt, as `send` returns it. */
export type SendAnswer = AcceptedAnswer | RejectedAnswer | AmbiguousAnswer;

/** The carrier has the message. */
export interface AcceptedAnswer {
  /** `accepted`: the carrier has the message. */
  readonly outcome: "accepted";
  /** The carrier's id of the message. Its receipts name the message by this id. */
  readonly provider_message_id: string;
}

/** The message was certainly not sent. The engine tries again, unless the error is permanent. */
export interface RejectedAnswer {
  /** `rejected`: the message was certainly not sent. */
  readonly outcome: "rejected";
  /** Why the carrier refused the message, or why it could not be reached. */
  readonly error: CarrierError;
  /**
   * True if the carrier would refuse the same message again. The engine then does not retry with
   * this transport.
   */
  readonly permanent: boolean;
  /**
   * How long the carrier asks to wait before the next attempt, in milliseconds. Without it, the
   * engine waits 1 s after the first attempt and up to 10 min after later ones. A negative or
   * infinite time counts as none.
   */
  readonly retry_after_ms?: number | undefined;
}

/** The message may have been sent. The engine waits for a receipt or a look-up. */
export interface AmbiguousAnswer {
  /** `ambiguous`: the message may have been sent. */
  readonly outcome: "ambiguous";
  /** Why the outcome is unknown, such as `answer_lost`. */
  readonly error: CarrierError;
}

/** A carrier's report on an accepted message. */
export interface Receipt {
  /** What happened to the message. `undelivered` means that the carrier gave up. */
  readonly status: "sent" | "delivered" | "undelivered" | "read";
  /** When it happened, by the carrier's clock: milliseconds since the epoch, not seconds. */
  readonly at: number;
  /** Why the message was not delivered, if the carrier says so. */
  readonly error?: CarrierError | undefined;
}

/**
 * Identifies the attempt of a receipt: by the provider's id, or by the attempt's id if the carrier
 * echoes it. With both, the engine can store the provider's id of an attempt whose answer was lost.
 */
export type ReceiptSubject =
  | {
      /** The carrier's id of the message. */
      readonly provider_message_id: string;
      /** The id of the attempt, if the carrier echoes it. */
      readonly attempt_id?: string | undefined;
    }
  | {
      /** The id of the attempt. */
      readonly attempt_id: string;
      /** The carrier's id of the message, if the callback contains it. */
      readonly provider_message_id?: string | undefined;
    };

/** A message that the carrier has, with its receipts. */
export interface CarriedMessage {
  /** The carrier's id of the message. */
  readonly provider_message_id: string;
  /** What the carrier reports about the message so far. Empty if it reports nothing. */
  readonly receipts: readonly Receipt[];
}

/** The answer to a look-up. */
export type LookupAnswer = FoundMessage | SimilarMessages | NotSent | UnknownOutcome;

/** The carrier has the message. */
export interface FoundMessage extends CarriedMessage {
  /** `sent`: the carrier has the message. */
  readonly outcome: "sent";
}

/**
 * The carrier cannot tell attempts apart, and these messages match. The message counts as sent if
 * exactly one of them has no owner and there is no rival. An owner is another attempt with the
 * provider id of the message. A rival is another attempt within an hour without a provider id that
 * is under way to the same recipient, or has lost its answer to the same content. Otherwise the
 * outcome stays unknown.
 */
export interface SimilarMessages {
  /** `alike`: several attempts look the same to the carrier. */
  readonly outcome: "alike";
  /** All messages at the carrier that match. */
  readonly messages: readonly CarriedMessage[];
}

/**
 * The carrier certainly never received the message and never will. The engine sends it again.
 */
export interface NotSent {
  /** `not_sent`: the carrier never received the message. */
  readonly outcome: "not_sent";
}

/** The carrier's data does not show the outcome. The engine keeps waiting for a receipt. */
export interface UnknownOutcome {
  /** `unknown`: the outcome is still unknown. */
  readonly outcome: "unknown";
}

/** A message from a contact, as a carrier delivered it. */
export interface InboundMessage {
  /**
   * The carrier's id of the message. The engine ignores a message whose id this transport has
   * passed before.
   */
  readonly provider_message_id: string;
  /** How the message was sent. */
  readonly channel: Channel;
  /**
   * The contact's phone number, short code or name: up to 64 letters, digits, spaces and `+._:@-`.
   * A message from anything else is dropped with a warning.
   */
  readonly from: string;
  /** The address of the sender that received it, which determines the account. */
  readonly to: string;
  /** The text. Empty if the message has only media. */
  readonly body: string;
  /**
   * The files of the message. The engine removes the parameters of a media type, and leaves out a
   * `content_type` that is no media type.
   */
  readonly media: readonly Media[];
  /**
   * When the message was sent, by the carrier's clock, in milliseconds since the epoch. The message
   * that the engine stores has the time at which the engine received it.
   */
  readonly at: number;
  /**
   * Set if the carrier took the message for a keyword, whatever the text is. The engine applies it
   * like a keyword of its own: `opt_in` counts only from a contact who has opted out.
   */
  readonly keyword?: InboundKeyword | null | undefined;
}

/** What a carrier took an inbound message for. */
export type InboundKeyword = "opt_out" | "opt_in" | "help";

/** Receives the carrier's reports from a transport. Resolves when they are committed. */
export interface TransportSink {
  /**
   * Records a receipt. If the engine does not know the provider's id yet, it keeps the receipt and
   * applies it later.
   */
  receipt(subject: ReceiptSubject, receipt: Receipt): Promise<void>;
  /**
   * Stores an inbound message for the account that has a live sender at its recipient address. If
   * the transport carries no live messages, the sandbox that has a sender there receives it, unless
   * several sandboxes have one. With `account_id`, the sandbox of that account receives it. An
   * empty `account_id` counts as none. A message that nobody receives is dropped with a warning.
   */
  inbound(message: InboundMessage, account_id?: string): Promise<void>;
}

/** The context that a transport gets when the engine starts. Simulated carriers use its clock. */
export interface TransportContext {
  /** Receives the receipts and inbound messages that the transport obtains by itself. */
  readonly sink: TransportSink;
  /** The engine's clock. */
  readonly clock: Clock;
  /** The engine's logger. Log no secrets, message bodies or phone numbers. */
  readonly logger: Logger;
}

/**
 * What a transport can do. The engine reads it when it chooses transports and waits for receipts.
 */
export interface TransportCapabilities {
  /** The channels whose messages the transport can carry. */
  readonly channels: readonly Channel[];
  /** The modes whose messages the transport may carry. */
  readonly modes: readonly Mode[];
  /** When receipts come. `none`: never, and an accepted message counts as delivered. */
  readonly receipts: "none" | ReceiptTimes;
  /** Whether the carrier itself confirms opt-outs to the contact. */
  readonly confirms_opt_outs: boolean;
}

/** How long the engine waits for the receipts of a transport. */
export interface ReceiptTimes {
  /**
   * How long after its hand-over a message without a final receipt becomes `unconfirmed`, in whole
   * milliseconds: up to 3,650 days.
   */
  readonly timeout_ms: number;
  /**
   * When the engine looks up a message without a final receipt: times after the hand-over in
   * ascending order, in whole milliseconds, up to `timeout_ms`. For times that pass while no
   * engine runs, one look-up is made in all. One more is made before the message becomes
   * `unconfirmed`. Empty if the transport has no `lookup`.
   */
  readonly lookups_ms: readonly number[];
}

/**
 * The maximum size of a callback's body in bytes. Carriers send a few kilobytes. The limit is low,
 * because anyone can send a callback, and its body is read before its signature is checked.
 */
export const maxCallbackBytes = 131_072;

/**
 * An unmodified carrier request to `/v1/transports/:name/callbacks`. Header names are in lower
 * case.
 */
export interface CallbackRequest {
  /** The HTTP method: `POST`. */
  readonly method: string;
  /** The path and query that the carrier requested. */
  readonly url: string;
  /** The headers by lower-case name. Repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, as the carrier signed them: at most 131,072. */
  readonly body: Uint8Array;
  /**
   * When the request arrived, by the engine's clock, in milliseconds since the epoch. Use it to
   * check the age of a signature, and as the time of a report without its own time.
   */
  readonly received_at: number;
}

/** What a callback contains. */
export interface CallbackResult {
  /** The receipts in the callback. */
  readonly receipts: readonly ReportedReceipt[];
  /** The messages from contacts in the callback. */
  readonly inbound: readonly InboundMessage[];
  /** The response to the carrier, sent after the receipts and messages are committed. */
  readonly response: CallbackResponse;
}

/** A receipt, with the attempt that it is about. */
export interface ReportedReceipt {
  /** The attempt that the receipt is about. */
  readonly subject: ReceiptSubject;
  /** The carrier's report. */
  readonly receipt: Receipt;
}

/** The HTTP response to a carrier's callback. */
export interface CallbackResponse {
  /** The HTTP status: 200 to 599. */
  readonly status: number;
  /** The header `Content-Type`, if there is a body: printable ASCII characters. */
  readonly content_type?: string | undefined;
  /**
   * The body. It is not sent with the statuses 204, 205 and 304, which have none.
   * @default ""
   */
  readonly body?: string | undefined;
}

/** A number of a simulated carrier with a fixed outcome. */
export interface TestNumber {
  /** The phone number, in E.164 form. */
  readonly number: string;
  /** A description of what happens to messages to this number. */
  readonly behavior: string;
}

/** The adapter of a carrier. `transportConformance` of `tidings/testing` tests one. */
export interface Transport {
  /**
   * The name by which senders and routes refer to the transport. Unique in an engine, and part of
   * the path of its callbacks: 1 to 64 letters, digits, `_`, `-` and `.`, and not only dots.
   */
  readonly name: string;
  /** What the transport can do. */
  readonly capabilities: TransportCapabilities;
  /** Numbers with a fixed outcome, if the carrier is simulated. */
  readonly test_numbers?: readonly TestNumber[] | undefined;
  /**
   * Gives a message to the carrier. Returns the carrier's errors as answers. An exception, an
   * answer of another form, or none within 25 seconds counts as an ambiguous answer.
   */
  send(message: OutboundMessage, context: SendContext): Promise<SendAnswer>;
  /**
   * Finds the outcome of an attempt whose answer was lost or whose receipts are missing. An
   * exception, an answer of another form, or none within 25 seconds counts as `unknown`.
   */
  lookup?(message: OutboundMessage, context: LookupContext): Promise<LookupAnswer>;
  /**
   * Verifies the signature of a callback and parses it. Callbacks may repeat and arrive in any
   * order. If it takes more than 25 seconds or the result has another form, the carrier gets a 500
   * and the result is not used. The engine handles up to 256 callbacks of one transport at once.
   * @throws TidingsError `invalid_signature` (403) if the signature does not match,
   *   `malformed_request` (400) or `validation_failed` (422) if the body cannot be read, and
   *   `overloaded` (503) if the carrier should send the callback again. Other errors become a 500
   */
  parseCallback?(request: CallbackRequest): Promise<CallbackResult>;
  /** Called when an engine starts. A later engine may start the same object again after `stop`. */
  start?(context: TransportContext): Promise<void>;
  /** Called when the engine stops, within the deadline of `stop`. Ends what `start` began. */
  stop?(): Promise<void>;
}
