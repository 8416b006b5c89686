import { ownAccount } from "../accounts/index.ts";
import { consentFor, contactById, type ConsentState } from "../contacts/index.ts";
import { firstTimeZone, iso, TidingsError } from "../kernel/index.ts";
import type { Call, QuietHours } from "../operations/index.ts";
import type { NamedVerdict, PolicyFacts, Verdict } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import type { PolicyVerdict } from "./policy-types.ts";
import { quietUntil } from "./quiet-hours.ts";

/** A message to check, and its recipient's consent and contact. */
interface PolicySubject {
  readonly message: PolicyFacts["message"];
  /** Whether the message confirms an opt-out. It is then sent in spite of the opt-out. */
  readonly confirmsOptOut: boolean;
  readonly consent: ConsentState;
  /** Null if the recipient is not a known contact. */
  readonly contact_id: string | null;
  /** When the message would be sent, in milliseconds. */
  readonly at: number;
  /** Whether the verdicts stay true until this transaction commits. By default they need not. */
  readonly hold?: boolean;
}

export type PolicyContext = Pick<Call, "services" | "hostVerdicts">;

/**
 * Returns the verdict of every policy on a message. It reads the contact and the account only if a
 * policy needs them. What `HostVerdicts.of` throws interrupts the command.
 */
export async function checkPolicies(
  tx: Tx,
  { services: { quietHours, timeZone }, hostVerdicts }: PolicyContext,
  { message, confirmsOptOut, consent: state, contact_id, at, hold = false }: PolicySubject,
): Promise<readonly NamedVerdict[]> {
  const consent = consentFor(state, message.from);
  const ofConsent = { policy: "consent", ...checkConsent(consent, confirmsOptOut) };
  const isMarketing = message.category === "marketing";
  if (!isMarketing && !hostVerdicts.any) {
    return [ofConsent, { policy: "quiet_hours", ...allow }];
  }

  const [contact, account] = await Promise.all([
    contact_id === null ? undefined : tx.get(contactById, [contact_id], { hold }),
    ownAccount(tx, { hold }),
  ]);
  const { account_id, mode } = tx.scope;
  const time_zone = account?.time_zone ?? timeZone;
  const facts: PolicyFacts = {
    account_id,
    mode,
    message,
    consent,
    contact: contact === undefined ? null : policyContact(contact),
    time_zone,
    now: at,
  };
  const hours = isMarketing ? (account?.quiet_hours ?? quietHours) : null;
  const ofHours = hours === null ? allow : checkQuietHours(facts, hours);
  return [ofConsent, { policy: "quiet_hours", ...ofHours }, ...hostVerdicts.of(facts)];
}

function policyContact(
  contact: NonNullable<PolicyFacts["contact"]>,
): NonNullable<PolicyFacts["contact"]> {
  const { id, name, time_zone, language, labels, attributes } = contact;
  return { id, name, time_zone, language, labels, attributes };
}

/**
 * @throws TidingsError `recipient_opted_out`, or `policy_denied` with the code of the denying
 * policy
 */
export function throwIfDenied(decision: NamedVerdict | { readonly verdict: "allow" }): void {
  if (decision.verdict !== "deny") return;
  const { code, message } = decision;
  const isOptOut = code === "recipient_opted_out";
  throw new TidingsError(isOptOut ? code : "policy_denied", message, {
    errors: [{ pointer: isOptOut ? "/to" : "", code, message }],
  });
}

const allow: Verdict = { verdict: "allow" };

/** Denies messages to a recipient who opted out, except the confirmation of the opt-out. */
function checkConsent(consent: PolicyFacts["consent"], confirmsOptOut: boolean): Verdict {
  if (consent !== "opted_out" || confirmsOptOut) return allow;
  return {
    verdict: "deny",
    code: "recipient_opted_out",
    message: "The recipient opted out of these messages.",
  };
}

/**
 * Defers a message to the end of the quiet hours, in the contact's time zone or, if that is
 * unknown, in the account's.
 */
function checkQuietHours({ contact, time_zone, now }: PolicyFacts, hours: QuietHours): Verdict {
  const until = quietUntil(now, firstTimeZone(contact?.time_zone, time_zone), hours);
  if (until === null) return allow;
  return {
    verdict: "defer",
    until,
    reason: `The recipient has quiet hours from ${hours.from} to ${hours.to}.`,
  };
}

/** Combines the verdicts: the first denial, else the latest deferral, else allow. */
export function decisionOf(
  verdicts: readonly NamedVerdict[],
): NamedVerdict | { readonly verdict: "allow" } {
  const denial = verdicts.find(({ verdict }) => verdict === "deny");
  if (denial !== undefined) return denial;
  let latest: Extract<NamedVerdict, { verdict: "defer" }> | undefined;
  for (const each of verdicts) {
    if (each.verdict === "defer" && (latest === undefined || each.until > latest.until)) {
      latest = each;
    }
  }
  return latest ?? { verdict: "allow" };
}

/** Converts a verdict to its form in the API. */
export function toPolicyVerdict(named: NamedVerdict): PolicyVerdict {
  const { policy, verdict } = named;
  switch (verdict) {
    case "allow":
      return { policy, verdict };
    case "deny":
      return { policy, verdict, code: named.code, message: named.message };
    case "defer":
      return { policy, verdict, until: iso(named.until), message: named.reason };
  }
}
