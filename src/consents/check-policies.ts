import * as z from "zod";
import { firstTimeZone, iso, TidingsError, timestamp } from "../kernel/index.ts";
import { Temporal } from "temporal-polyfill";
import type { Call, QuietHours } from "../operations/index.ts";
import { ownAccount } from "../accounts/index.ts";
import { consentFor, type ConsentState, contactById } from "../contacts/index.ts";
import type { NamedVerdict, PolicyFacts, Verdict } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** The verdict of one policy on a message. */
export interface PolicyVerdict {
  /** `consent`, `quiet_hours`, or the name of a policy of the host application. */
  readonly policy: string;
  /**
   * `allow`: the policy has no objection. `deny`: the message must not be sent. `defer`: the
   * message must wait until `until`.
   */
  readonly verdict: "allow" | "deny" | "defer";
  /** The reason code of a denial. */
  readonly code?: string | undefined;
  /** When a deferral ends. */
  readonly until?: string | undefined;
  /** The reason for a denial or deferral. */
  readonly message?: string | undefined;
}

export const policyVerdictSchema = z
  .strictObject({
    policy: z
      .string()
      .describe("`consent`, `quiet_hours`, or the name of a policy of the host application."),
    verdict: z
      .enum(["allow", "deny", "defer"])
      .describe(
        "`allow`: the policy has no objection. `deny`: the message must not be sent. `defer`: " +
          "the message must wait until `until`.",
      ),
    code: z.string().optional().describe("The reason code of a denial."),
    until: timestamp.optional().describe("When a deferral ends."),
    message: z.string().optional().describe("The reason for a denial or deferral."),
  })
  .meta({ id: "PolicyVerdict", description: "The verdict of one policy on a message." });

/**
 * Returns the first time from `now` on at which the wall clock of a time zone is outside the quiet
 * hours; null if it is outside now. The wall clock decides: if the zone sets it forward over the
 * end, the quiet hours end with that change. If the zone sets it back over the end, the quiet hours
 * begin a second time.
 */
export function quietUntil(now: number, zone: string, { from, to }: QuietHours): number | null {
  const start = Temporal.PlainTime.from(from);
  const end = Temporal.PlainTime.from(to);
  let at = Temporal.Instant.fromEpochMilliseconds(Math.floor(now)).toZonedDateTimeISO(zone);
  if (!isWithin(at, start, end)) return null;
  while (isWithin(at, start, end)) at = endOrClockChange(at, end);
  return at.epochMilliseconds;
}

/** Includes the start and excludes the end. The end may be on the next day. */
function isWithin(
  at: Temporal.ZonedDateTime,
  start: Temporal.PlainTime,
  end: Temporal.PlainTime,
): boolean {
  const time = at.toPlainTime();
  const hasStarted = Temporal.PlainTime.compare(start, time) <= 0;
  const hasNotEnded = Temporal.PlainTime.compare(time, end) < 0;
  const isOverMidnight = Temporal.PlainTime.compare(start, end) > 0;
  return isOverMidnight ? hasStarted || hasNotEnded : hasStarted && hasNotEnded;
}

/** When the wall clock reaches `end`, or when the zone changes its offset from UTC before that. */
function endOrClockChange(
  at: Temporal.ZonedDateTime,
  end: Temporal.PlainTime,
): Temporal.ZonedDateTime {
  const sameDay = at.toPlainTime().until(end);
  const ending = at.add(sameDay.sign < 0 ? sameDay.add({ hours: 24 }) : sameDay);
  const change = at.getTimeZoneTransition("next");
  return change !== null && Temporal.ZonedDateTime.compare(change, ending) < 0 ? change : ending;
}

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
  /** With `hold`, the verdicts stay true until this transaction commits. */
  readonly options?: ReadOptions;
}

export type PolicyContext = Pick<Call, "services" | "hostVerdicts">;

/**
 * Returns the verdict of every policy on a message. It reads the contact and the account only if a
 * policy needs them.
 * @throws VerdictsMissing if the host application's policies must be called first
 */
export async function checkPolicies(
  tx: Tx,
  { services: { quietHours, timeZone }, hostVerdicts }: PolicyContext,
  { message, confirmsOptOut, consent: state, contact_id, at, options }: PolicySubject,
): Promise<readonly NamedVerdict[]> {
  const consent = consentFor(state, message.from);
  const verdicts: NamedVerdict[] = [
    { policy: "consent", ...checkConsent(consent, confirmsOptOut) },
  ];
  const hasQuietHours = quietHours !== null && message.category === "marketing";
  if (quietHours !== null && !hasQuietHours) {
    verdicts.push({ policy: "quiet_hours", verdict: "allow" });
  }
  if (!hasQuietHours && !hostVerdicts.any) return verdicts;

  const [contact, account] = await Promise.all([
    contact_id === null ? undefined : tx.get(contactById, [contact_id], options),
    ownAccount(tx, options),
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
  if (hasQuietHours) {
    verdicts.push({ policy: "quiet_hours", ...checkQuietHours(facts, quietHours) });
  }
  return [...verdicts, ...hostVerdicts.of(facts)];
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
function checkQuietHours({ contact, time_zone, now }: HourFacts, hours: QuietHours): Verdict {
  const until = quietUntil(now, firstTimeZone(contact?.time_zone, time_zone), hours);
  if (until === null) return allow;
  return {
    verdict: "defer",
    until,
    reason: `The recipient has quiet hours from ${hours.from} to ${hours.to}.`,
  };
}

type HourFacts = Pick<PolicyFacts, "contact" | "time_zone" | "now">;

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
