/**
 * A policy says whether a message may go out now. It is asked twice: when the message is accepted, and in the transaction that hands it
 * over, which has the last word.
 */
import type { AccountId, Channel, ContactId, MessageId, Mode } from "../kernel/index.ts";
import type { Media } from "./transport.ts";

/**
 * - `allow`: nothing speaks against it.
 * - `deny`: it must not go out. A request for it is answered 422; a message that was accepted before fails, for good.
 * - `defer`: not before `until` (milliseconds since the epoch, at most 35 days ahead). A request for it is accepted; at its hand-over the
 *   message is scheduled anew, and its time to live moves along, up to 70 days from its creation. A time that has passed
 *   allows it.
 */
export type Verdict =
  | { readonly verdict: "allow" }
  | {
      readonly verdict: "deny";
      /** For programs: a lower-case letter, then up to 63 of those, digits and `_`. */
      readonly code: string;
      /** For people. Shown to who asked for the message, so without secrets. */
      readonly message: string;
    }
  | {
      readonly verdict: "defer";
      readonly until: number;
      /** For people; it stands in the message's timeline. */
      readonly reason: string;
    };

/** What a policy judges by. */
export interface PolicyFacts {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly message: {
    /** Null while the message is yet to be accepted. */
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
  /** What the address allows this sender. */
  readonly consent: "opted_in" | "opted_out" | "unknown";
  /** Null when the address was never seen. */
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
  /** The account's, an IANA name. */
  readonly time_zone: string;
  /** When it would go out, in milliseconds since the epoch: now, or when it is scheduled for. */
  readonly now: number;
}

/**
 * A rule of the host's. `evaluate` may ask the host's tables through `tx`, the transaction in which the message is accepted or handed
 * over, and awaits nothing else: what it awaits holds up that transaction. `tx` is undefined where the storage has no transactions.
 *
 * It may be asked more than once of one message. Where it throws, answers what is no verdict, or takes longer than 5 seconds, nothing is
 * sent: a request is answered with a retryable `internal`, a hand-over is tried again later.
 */
export interface Policy<Tx extends object | undefined = object | undefined> {
  /** A lower-case letter, then up to 63 of those, digits and `_`. Not `consent` or `quiet_hours`, which are built in. */
  readonly name: string;
  evaluate(facts: PolicyFacts, tx: Tx): Verdict | Promise<Verdict>;
}

/** A verdict, and whose it is. */
export type Opinion = Verdict & { readonly policy: string };

/**
 * What the host's policies say of a message. A command can't ask them, for it may await nothing but its transaction: where nobody knows
 * yet it is broken off, they are asked beside it, and it is run again.
 */
export interface HostOpinions {
  /** Whether the host has policies at all. */
  readonly any: boolean;
  /** @throws Unasked (`domain/policies/opinions`) */
  of(facts: PolicyFacts): readonly Opinion[];
}
