/**
 * Consent: whether an address may be sent messages. A consent belongs to an address, so no change
 * to a contact lifts it.
 */
import { createHmac, type KeyObject } from "node:crypto";
import type { Medium, Scope } from "../../kernel/index.ts";
import type { ConsentStatus } from "./consent-types.ts";

/**
 * The consent of an address: a status for all senders, and the senders for which it differs. A
 * sender is in at most one of the two lists, by its address.
 */
export interface ConsentState {
  readonly status: ConsentStatus;
  readonly opted_out_of: readonly string[];
  readonly opted_in_to: readonly string[];
}

export const noConsent: ConsentState = { status: "unknown", opted_out_of: [], opted_in_to: [] };

/** `sender` is the sender that the change applies to. Null means all senders. */
export interface ConsentChange {
  readonly status: Exclude<ConsentStatus, "unknown">;
  readonly sender: string | null;
}

/**
 * Returns a keyed hash that replaces an address where the address must not be stored. The hash
 * differs by account and mode, so hashes of different accounts cannot be compared.
 */
export function addressHash(
  secret: KeyObject,
  { account_id, mode }: Scope,
  medium: Medium,
  address: string,
): string {
  const subject = JSON.stringify(["consent", account_id, mode, medium, address]);
  return createHmac("sha256", secret).update(subject).digest("base64url");
}

/** The consent of an address to one sender. */
export function consentFor(
  { status, opted_out_of, opted_in_to }: ConsentState,
  sender: string,
): ConsentStatus {
  if (opted_out_of.includes(sender)) return "opted_out";
  return opted_in_to.includes(sender) ? "opted_in" : status;
}

/**
 * The maximum number of senders in each list. One more opt-out becomes an opt-out of all senders.
 * One more opt-in drops the oldest opt-in.
 */
const maxSenders = 100;

/**
 * Returns the consent after a change. The latest change for each sender counts. A change for all
 * senders replaces the changes for single senders. An opt-in to one sender does not lift an opt-out
 * of another.
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
    return { ...after, opted_in_to: [...after.opted_in_to, sender].slice(-maxSenders) };
  }
  if (after.opted_out_of.length >= maxSenders) return { ...noConsent, status };
  return { ...after, opted_out_of: [...after.opted_out_of, sender] };
}

/** Whether the change alters the consent to the senders that it applies to. */
export function isNewConsent(before: ConsentState, { status, sender }: ConsentChange): boolean {
  if (sender !== null) return consentFor(before, sender) !== status;
  return (
    before.status !== status || before.opted_out_of.length > 0 || before.opted_in_to.length > 0
  );
}
