/**
 * A policy decides whether a message may be sent now. The engine evaluates it twice: when it
 * accepts the message, and in the transaction that hands the message over. The second verdict is
 * final.
 */
import type { AccountId, Channel, ContactId, MessageId, Mode } from "../kernel/index.ts";
import type { Media } from "./transport.ts";

/**
 * - `allow`: the policy has no objection.
 * - `deny`: the message must not be sent. A request for it fails with status 422. A message that
 *   was already accepted fails permanently.
 * - `defer`: the message must not be sent before `until` (milliseconds since the epoch, at most 35
 *   days ahead). A request for it is accepted. At hand-over the message is rescheduled, and its
 *   time to live is extended, up to 70 days from its creation. A time in the past allows the
 *   message.
 */
export type Verdict =
  | { readonly verdict: "allow" }
  | {
      readonly verdict: "deny";
      /**
       * A code for programs: a lower-case letter, then up to 63 lower-case letters, digits and `_`.
       */
      readonly code: string;
      /** A message for people. The API caller sees it, so it must not contain secrets. */
      readonly message: string;
    }
  | {
      readonly verdict: "defer";
      readonly until: number;
      /** A reason for people. It appears in the message's timeline. */
      readonly reason: string;
    };

/** The facts that a policy evaluates. */
export interface PolicyFacts {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly message: {
    /** Null before the message is accepted. */
    readonly id: MessageId | null;
    readonly channel: Channel;
    readonly category: "transactional" | "marketing";
    /** The sender's address. */
    readonly from: string;
    readonly to: string;
    readonly author: {
      readonly type: "api" | "human" | "agent" | "contact" | "system";
      readonly id: string | null;
    };
    readonly body: string;
    readonly media: readonly Media[];
  };
  /** The consent of the recipient address to this sender. */
  readonly consent: "opted_in" | "opted_out" | "unknown";
  /** Null if no contact has the address. */
  readonly contact: {
    readonly id: ContactId;
    readonly name: string | null;
    /** IANA name. */
    readonly time_zone: string | null;
    /** BCP 47 tag. */
    readonly language: string | null;
    readonly labels: readonly string[];
    readonly attributes: Readonly<Record<string, string>>;
  } | null;
  /** The account's time zone, an IANA name. */
  readonly time_zone: string;
  /**
   * When the message would be sent, in milliseconds since the epoch: now, or its scheduled time.
   */
  readonly now: number;
}

/**
 * A policy of the host application. `evaluate` may query the host application's tables
 * through `tx`, the transaction that accepts the message or hands it over. It must not await
 * anything else, since the transaction stays open meanwhile. `tx` is undefined if the storage has
 * no transactions.
 *
 * The engine may evaluate a policy more than once for one message. If `evaluate` throws, returns an
 * invalid verdict or takes longer than 5 seconds, nothing is sent: a request fails with the
 * retryable error `internal`, and a hand-over is retried later.
 */
export interface Policy<Tx extends object | undefined = object | undefined> {
  /**
   * A lower-case letter, then up to 63 lower-case letters, digits and `_`. Must not be `consent` or
   * `quiet_hours`, the names of built-in policies.
   */
  readonly name: string;
  evaluate(facts: PolicyFacts, tx: Tx): Verdict | Promise<Verdict>;
}

/** A verdict with the name of its policy. */
export type NamedVerdict = Verdict & { readonly policy: string };

/**
 * The verdicts of the host application's policies on a message. A command may await only its own
 * transaction, so it cannot evaluate policies. If a verdict is missing, the engine interrupts the
 * command, evaluates the policies, and runs the command again.
 */
export interface HostVerdicts {
  /** Whether the host application has policies. */
  readonly any: boolean;
  /** @throws VerdictsMissing if the policies have not been evaluated with these facts */
  of(facts: PolicyFacts): readonly NamedVerdict[];
}
