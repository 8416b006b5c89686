/**
 * A policy decides whether a message may be sent now. The engine evaluates it twice: when it
 * accepts the message, and in the transaction that hands the message over. The second verdict is
 * final.
 */
import type { AccountId, Channel, ContactId, MessageId, Mode } from "../kernel/index.ts";
import type { Media } from "./transport.ts";

/** A policy's decision about one message: allow it, deny it, or defer it. */
export type Verdict = AllowVerdict | DenyVerdict | DeferVerdict;

/** The policy has no objection to the message. */
export interface AllowVerdict {
  /** The policy has no objection. */
  readonly verdict: "allow";
}

/** The message must not be sent. */
export interface DenyVerdict {
  /**
   * The message must not be sent. A request for it fails with status 422. A message that was
   * already accepted fails permanently.
   */
  readonly verdict: "deny";
  /**
   * A code for programs: a lower-case letter, then up to 63 lower-case letters, digits and `_`.
   */
  readonly code: string;
  /** A message for people. The API caller sees it, so it must not contain secrets. */
  readonly message: string;
}

/** The message must not be sent yet. */
export interface DeferVerdict {
  /**
   * The message must wait. A request for it is accepted. At hand-over the message is rescheduled,
   * and its time to live is extended, up to 70 days from its creation or from the last edit of its
   * `send_at`.
   */
  readonly verdict: "defer";
  /**
   * The message must not be sent before this time: milliseconds since the epoch, at most 35 days
   * ahead. A time in the past allows the message.
   */
  readonly until: number;
  /** A reason for people. It appears in the message's timeline. */
  readonly reason: string;
}

/** The facts that a policy evaluates. */
export interface PolicyFacts {
  /** The account that sends the message. */
  readonly account_id: AccountId;
  /** The mode of the message, `sandbox` or `live`. */
  readonly mode: Mode;
  /** The message that the policy decides about. */
  readonly message: PolicyMessage;
  /** The consent of the recipient address to this sender. */
  readonly consent: "opted_in" | "opted_out" | "unknown";
  /** The contact with the recipient's address. Null if no contact has it. */
  readonly contact: PolicyContact | null;
  /** The account's time zone, an IANA name. */
  readonly time_zone: string;
  /**
   * When the message would be sent, in milliseconds since the epoch: now, or its scheduled time.
   */
  readonly now: number;
}

/** A message, as policies see it. */
export interface PolicyMessage {
  /** The id of the message. Null before the message is accepted. */
  readonly id: MessageId | null;
  /** How the message travels. */
  readonly channel: Channel;
  /** What the message is for. Quiet hours apply to `marketing` only. */
  readonly category: "transactional" | "marketing";
  /** The sender's address. */
  readonly from: string;
  /** The recipient's address: a phone number, or a webchat address. */
  readonly to: string;
  /** Who wrote the message. */
  readonly author: PolicyAuthor;
  /** The text of the message. Empty if it has only attachments. */
  readonly body: string;
  /** The attachments, in order. Empty if there are none. */
  readonly media: readonly Media[];
  /** The host application's own values of the message, by key. Empty if there are none. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The author of a message, as policies see it. */
export interface PolicyAuthor {
  /**
   * `api`: a program. `human`: a person of the host application. `agent`: an AI agent. `contact`:
   * the contact. `system`: the engine, for example its answer to a keyword.
   */
  readonly type: "api" | "human" | "agent" | "contact" | "system";
  /**
   * The id of the API key, agent or contact, or the host application's id of a person. Null if
   * there is none.
   */
  readonly id: string | null;
}

/** A contact, as policies see it. */
export interface PolicyContact {
  /** The id of the contact. */
  readonly id: ContactId;
  /** The contact's name. Null if it is not known. */
  readonly name: string | null;
  /** The contact's time zone, an IANA name. Null if it is not known. */
  readonly time_zone: string | null;
  /** The contact's language (BCP 47 tag). Null if it is not known. */
  readonly language: string | null;
  /** The labels of the contact. */
  readonly labels: readonly string[];
  /** The host application's own fields of the contact, by name. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * A policy of the host application. `evaluate` may query the host application's tables
 * through `tx`, the transaction that accepts the message or hands it over. It must not await
 * anything else, since the transaction stays open meanwhile. The transaction is opened only if a
 * policy uses `tx`. Before that, a query through `tx` never settles, and a statement on SQLite
 * throws. The engine then evaluates the policies again in an open transaction, whatever the first
 * evaluation returned. `Tx` is the type of the storage's transaction handle. It is undefined if the
 * storage has no transactions, as with `memory()`. The engine's types refuse a policy that needs
 * another handle than its storage has.
 *
 * The engine may evaluate a policy more than once for one message. If `evaluate` throws, returns an
 * invalid verdict or takes longer than 5 seconds, nothing is sent: a request fails with the
 * retryable error `internal`, and a hand-over is retried later. The engine logs the failure with
 * the policy's name.
 */
export interface Policy<Tx extends object | undefined = object | undefined> {
  /**
   * A lower-case letter, then up to 63 lower-case letters, digits and `_`. Must not be `consent`,
   * `quiet_hours` or `recipient`, the names of built-in policies.
   */
  readonly name: string;
  /** Returns the policy's verdict on one message. */
  readonly evaluate: (facts: PolicyFacts, tx: Tx) => Verdict | PromiseLike<Verdict>;
}

/** A verdict with the name of its policy. */
export type NamedVerdict = Verdict & {
  /** The policy's name. */
  readonly policy: string;
};

/**
 * The verdicts of the host application's policies on a message. A command may await only its own
 * transaction, so it cannot wait for a policy. If a policy does not decide at once, the engine
 * interrupts the command, and runs it again when all policies have decided.
 */
export interface HostVerdicts {
  /** Whether the host application has policies. */
  readonly any: boolean;
  /** If the policies do not decide at once, throws an error that interrupts the command. */
  of(facts: PolicyFacts): readonly NamedVerdict[];
}
