import { createHmac, type KeyObject } from "node:crypto";
import type { Medium, Scope } from "../kernel/index.ts";
import type { ConsentStatus } from "./consent-types.ts";

/** What an address allows all senders, but for those of which it said otherwise since: by their addresses, each in one list at most. */
export interface ConsentState {
  readonly status: ConsentStatus;
  readonly opted_out_of: readonly string[];
  readonly opted_in_to: readonly string[];
}

export const noConsent: ConsentState = { status: "unknown", opted_out_of: [], opted_in_to: [] };

/** `sender` is the one that it is about, null of all of them. */
export interface ConsentChange {
  readonly status: Exclude<ConsentStatus, "unknown">;
  readonly sender: string | null;
}

/** Stands for an address where it must not be told. It is this account's and mode's: others' can't be compared with it. */
export function addressHash(
  secret: KeyObject,
  { account_id, mode }: Scope,
  medium: Medium,
  address: string,
): string {
  const subject = JSON.stringify(["consent", account_id, mode, medium, address]);
  return createHmac("sha256", secret).update(subject).digest("base64url");
}

/** What an address allows one sender. */
export function consentFor(
  { status, opted_out_of, opted_in_to }: ConsentState,
  sender: string,
): ConsentStatus {
  if (opted_out_of.includes(sender)) return "opted_out";
  return opted_in_to.includes(sender) ? "opted_in" : status;
}

/** Of senders that one address spoke of, one by one. Who opts out of more opts out of all; who opts in to more did so to the last ones. */
const mostSenders = 100;

/**
 * What an address allows after a change: of each sender counts what was said last, and what is said of all is said of each. Who opts in to
 * one says nothing of another, of which an opt-out stands.
 */
export function consentAfter(
  before: ConsentState,
  { status, sender }: ConsentChange,
): ConsentState {
  if (sender === null) return { ...noConsent, status };
  const others = (senders: readonly string[]): string[] =>
    senders.filter((each) => each !== sender);
  const after = {
    status: before.status,
    opted_out_of: others(before.opted_out_of),
    opted_in_to: others(before.opted_in_to),
  };
  if (status === before.status) return after;
  if (status === "opted_in") {
    return { ...after, opted_in_to: [...after.opted_in_to, sender].slice(-mostSenders) };
  }
  if (after.opted_out_of.length >= mostSenders) return { ...noConsent, status };
  return { ...after, opted_out_of: [...after.opted_out_of, sender] };
}

/** Whether a change changed what the address allows those that it is about. */
export function isNewConsent(before: ConsentState, { status, sender }: ConsentChange): boolean {
  if (sender !== null) return consentFor(before, sender) !== status;
  return (
    before.status !== status || before.opted_out_of.length > 0 || before.opted_in_to.length > 0
  );
}
