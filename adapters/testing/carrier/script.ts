/** What a scripted carrier does with the messages that it gets. */
import type {
  CarrierError,
  CarrierErrorCode,
  LookupContext,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
} from "../../../src/ports/index.ts";
import { matchesText, stepFor } from "../scripts/rules.ts";

/** A receipt that a scripted carrier issues. */
export interface ScriptedReceipt {
  /** What the receipt reports. */
  readonly status: Receipt["status"];
  /**
   * When it happened: milliseconds after the carrier accepted the message.
   * @default 1000
   */
  readonly afterMs?: number | undefined;
  /** When the receipt arrives, if not at that time: milliseconds after the carrier accepted. */
  readonly arrivesAfterMs?: number | undefined;
  /** Why the message was not delivered. Default: `unreachable` for `undelivered`. */
  readonly error?: CarrierErrorCode | undefined;
  /**
   * Which id names the message: the carrier's own, or the attempt's.
   * @default "provider"
   */
  readonly names?: "provider" | "attempt" | undefined;
}

/** The carrier accepts the message and answers. */
export interface AcceptedOutcome {
  /** The carrier accepts the message and answers. */
  readonly outcome: "accepted";
  /** The receipts, in any order and number. Default: `delivered` after 1 s. */
  readonly receipts?: readonly ScriptedReceipt[] | undefined;
}

/** The carrier accepts the message, but its answer is lost. */
export interface LostAnswerOutcome {
  /** The carrier accepts the message, but its answer is lost. */
  readonly outcome: "answer_lost";
  /** The receipts, in any order and number. Default: `delivered` after 1 s. */
  readonly receipts?: readonly ScriptedReceipt[] | undefined;
}

/** The carrier refuses the message for good. */
export interface RefusedOutcome {
  /** The carrier refuses the message for good. */
  readonly outcome: "refused";
  /**
   * The reason of the refusal.
   * @default "invalid_destination"
   */
  readonly code?: CarrierErrorCode | undefined;
}

/** The carrier asks for a later attempt. */
export interface ThrottledOutcome {
  /** The carrier asks for a later attempt. */
  readonly outcome: "throttled";
  /** How long the carrier asks to wait, in milliseconds. Default: it does not say. */
  readonly retryAfterMs?: number | undefined;
}

/** What happens to one attempt to send a message. */
export type CarrierOutcome =
  AcceptedOutcome | LostAnswerOutcome | RefusedOutcome | ThrottledOutcome;

/** An outcome, or its name for the default one of its kind. */
export type ScriptedOutcome = CarrierOutcome | CarrierOutcome["outcome"];

/** What happens to the messages that match. A rule without conditions matches every message. */
export interface CarrierRule {
  /** The recipient's number. */
  readonly to?: string | undefined;
  /** A part of the text, or a pattern that it matches. */
  readonly text?: string | RegExp | undefined;
  /** What happens to the first attempt, the second, and so on. The last one repeats. */
  readonly attempts: readonly [ScriptedOutcome, ...ScriptedOutcome[]];
}

/** Rules or a function. The first rule that matches decides. Undefined means accepted. */
export type CarrierScript =
  readonly CarrierRule[] | ((call: AttemptAtCarrier) => ScriptedOutcome | undefined);

/** An attempt as a carrier gets it. */
export interface AttemptAtCarrier {
  /** The message to send. */
  readonly message: OutboundMessage;
  /** The id of the attempt. */
  readonly attempt_id: LookupContext["attempt_id"];
  /** 1 for the first attempt of the message. */
  readonly number: number;
  /**
   * When the engine committed that it hands the message over, in milliseconds since the epoch by
   * the engine's clock.
   */
  readonly started_at: number;
  /** When the call arrived, in milliseconds since the epoch by the world's clock. */
  readonly at: number;
  /** The transport over which it came. */
  readonly transport: string;
  /** The engine that made it. Empty outside of a world. */
  readonly engine: string;
}

/** A call that reached the carrier, as the carrier recorded it. */
export interface CarrierCall extends AttemptAtCarrier {
  /** What happened. */
  readonly outcome: CarrierOutcome["outcome"];
  /** The carrier's id of the message. Null unless it accepted the message, which it then sends. */
  readonly provider_message_id: string | null;
  /** The receipts that the carrier issued, also those that are still on their way. */
  readonly receipts: readonly IssuedReceipt[];
  /** Whether an earlier look-up answered that this attempt was not sent. */
  readonly wasDenied: boolean;
}

/** A receipt that the carrier issued. */
export interface IssuedReceipt {
  /** The attempt that it is about. */
  readonly subject: ReceiptSubject;
  /** What it reports. */
  readonly receipt: Receipt;
  /** It is never delivered. Only a look-up returns it. */
  readonly lost: boolean;
  /** An engine accepted it and answered. */
  acknowledged: boolean;
}

const defaultReceipts: readonly ScriptedReceipt[] = [{ status: "delivered" }];

/** What the script says about an attempt. */
export function outcomeOf(script: CarrierScript, call: AttemptAtCarrier): CarrierOutcome {
  const chosen = stepFor(script, call, { matches, stepsOf: ({ attempts }) => attempts });
  if (chosen === undefined) return { outcome: "accepted" };
  return typeof chosen === "string" ? { outcome: chosen } : chosen;
}

function matches({ to, text }: CarrierRule, { message }: AttemptAtCarrier): boolean {
  return (to === undefined || to === message.to) && matchesText(text, message.body);
}

/** The receipts of an outcome. */
export function receiptsOf(outcome: CarrierOutcome): readonly ScriptedReceipt[] {
  const isAccepted = outcome.outcome === "accepted" || outcome.outcome === "answer_lost";
  return isAccepted ? (outcome.receipts ?? defaultReceipts) : [];
}

/** An error as a carrier reports it. */
export function carrierError(code: CarrierErrorCode): CarrierError {
  return { code, message: `The carrier answered ${code}.` };
}
