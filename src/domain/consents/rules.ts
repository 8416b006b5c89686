import { createHmac, type KeyObject } from "node:crypto";
import type { Medium } from "../../fields.ts";
import type { Scope } from "../../scope.ts";
import type { ConsentStatus } from "./types.ts";

/** What an address allows. */
export interface ConsentState {
  readonly status: ConsentStatus;
  /** The senders that it opted out of, by their addresses, where consent is kept for each. */
  readonly opted_out_of: readonly string[];
}

export const noConsent: ConsentState = { status: "unknown", opted_out_of: [] };

/** `sender` is the one that it is about, null of all of them. */
export interface ConsentChange {
  readonly status: Exclude<ConsentStatus, "unknown">;
  readonly sender: string | null;
}

/** Stands for an address where it must not be told. It is this account's and mode's: others' can't be compared with it. */
export function addressHash(secret: KeyObject, { account_id, mode }: Scope, medium: Medium, address: string): string {
  const subject = JSON.stringify(["consent", account_id, mode, medium, address]);
  return createHmac("sha256", secret).update(subject).digest("base64url");
}

/** What an address allows one sender. */
export function consentFor({ status, opted_out_of }: ConsentState, sender: string): ConsentStatus {
  return opted_out_of.includes(sender) ? "opted_out" : status;
}

/** Of senders that one address opted out of, one by one. Who opts out of more opts out of all. */
const mostSenders = 100;

/**
 * What an address allows after a change. Who opts in to one sender wants to hear from it, so that lifts what was said of all of them, and
 * leaves what was said of another one.
 */
export function consentAfter({ status, opted_out_of }: ConsentState, change: ConsentChange): ConsentState {
  const { sender } = change;
  if (sender === null) return { status: change.status, opted_out_of: [] };
  const others = opted_out_of.filter((each) => each !== sender);
  if (change.status === "opted_in") return { status: "opted_in", opted_out_of: others };
  if (others.length >= mostSenders) return { status: "opted_out", opted_out_of: [] };
  return { status, opted_out_of: [...others, sender] };
}

/** Whether a change changed what the address allows those that it is about. */
export function isNewConsent(before: ConsentState, { status, sender }: ConsentChange): boolean {
  if (sender !== null) return consentFor(before, sender) !== status;
  return before.status !== status || before.opted_out_of.length > 0;
}
