import type { QuietHours } from "../operations/index.ts";
import type { Opinion, PolicyFacts, Verdict } from "../ports/index.ts";
import { firstTimeZone, iso } from "../kernel/index.ts";
import { quietUntil } from "./quiet-hours.ts";
import type { PolicyVerdict } from "./policy-types.ts";

export const allow: Verdict = { verdict: "allow" };

/** Who opted out gets nothing, but for the one message that confirms it. */
export function judgeConsent(consent: PolicyFacts["consent"], confirmsOptOut: boolean): Verdict {
  if (consent !== "opted_out" || confirmsOptOut) return allow;
  return {
    verdict: "deny",
    code: "recipient_opted_out",
    message: "The recipient opted out of these messages.",
  };
}

/** Marketing waits for the recipient's day; where nobody knows its time zone, the account's. */
export function judgeQuietHours(
  { contact, time_zone, now }: HourFacts,
  hours: QuietHours,
): Verdict {
  const until = quietUntil(now, firstTimeZone(contact?.time_zone, time_zone), hours);
  if (until === null) return allow;
  return {
    verdict: "defer",
    until,
    reason: `Quiet hours at the recipient's: ${hours.from} to ${hours.to}.`,
  };
}

type HourFacts = Pick<PolicyFacts, "contact" | "time_zone" | "now">;

/** What all verdicts together come to: the first denial; else the latest deferral; else it may go. */
export function ruling(opinions: readonly Opinion[]): Opinion | { readonly verdict: "allow" } {
  const denial = opinions.find(({ verdict }) => verdict === "deny");
  if (denial !== undefined) return denial;
  let latest: Extract<Opinion, { verdict: "defer" }> | undefined;
  for (const opinion of opinions) {
    if (opinion.verdict === "defer" && (latest === undefined || opinion.until > latest.until)) {
      latest = opinion;
    }
  }
  return latest ?? { verdict: "allow" };
}

/** An opinion as it is shown. */
export function verdictOf(opinion: Opinion): PolicyVerdict {
  const { policy, verdict } = opinion;
  switch (verdict) {
    case "allow":
      return { policy, verdict };
    case "deny":
      return { policy, verdict, code: opinion.code, message: opinion.message };
    case "defer":
      return { policy, verdict, until: iso(opinion.until), message: opinion.reason };
  }
}
