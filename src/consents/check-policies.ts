import { ownAccount } from "../accounts/index.ts";
import { consentFor, type ConsentState, contactById } from "../contacts/index.ts";
import { judgeConsent, judgeQuietHours } from "./policy-rules.ts";
import { TidingsError } from "../kernel/index.ts";
import type { Call } from "../operations/index.ts";
import type { Opinion, PolicyFacts } from "../ports/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** What is judged: of a message as much as a policy asks for, and what is known of whom it goes to. */
export interface Judged {
  readonly message: PolicyFacts["message"];
  /** The message confirms an opt-out: the one that still goes out. */
  readonly confirmsOptOut: boolean;
  readonly consent: ConsentState;
  /** Null when nothing is known of the contact. */
  readonly contact_id: string | null;
  /** When it would go out, in milliseconds. */
  readonly at: number;
  /** With `hold` what they say stays true until this commits. */
  readonly options?: ReadOptions;
}

export type Judging = Pick<Call, "services" | "hostOpinions">;

/**
 * What every policy says of a message. What only some of them ask for is read only for those.
 * @throws Unasked where the host's have to be asked first
 */
export async function judgeMessage(
  tx: Tx,
  { services: { quietHours, timeZone }, hostOpinions }: Judging,
  { message, confirmsOptOut, consent: state, contact_id, at, options }: Judged,
): Promise<readonly Opinion[]> {
  const consent = consentFor(state, message.from);
  const opinions: Opinion[] = [{ policy: "consent", ...judgeConsent(consent, confirmsOptOut) }];
  const waits = quietHours !== null && message.category === "marketing";
  if (quietHours !== null && !waits) opinions.push({ policy: "quiet_hours", verdict: "allow" });
  if (!waits && !hostOpinions.any) return opinions;

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
    contact: contact === undefined ? null : knownOf(contact),
    time_zone,
    now: at,
  };
  if (waits) opinions.push({ policy: "quiet_hours", ...judgeQuietHours(facts, quietHours) });
  return [...opinions, ...hostOpinions.of(facts)];
}

function knownOf(
  contact: NonNullable<PolicyFacts["contact"]>,
): NonNullable<PolicyFacts["contact"]> {
  const { id, name, time_zone, language, labels, attributes } = contact;
  return { id, name, time_zone, language, labels, attributes };
}

/** @throws TidingsError `recipient_opted_out`, or `policy_denied` with the code of the host's rule */
export function refuseDenied(ruling: Opinion | { readonly verdict: "allow" }): void {
  if (ruling.verdict !== "deny") return;
  const { code, message } = ruling;
  const known = code === "recipient_opted_out";
  throw new TidingsError(known ? code : "policy_denied", message, {
    errors: [{ pointer: known ? "/to" : "", code, message }],
  });
}
