import { checkPolicies, type PolicyContext } from "../../consents/index.ts";
import { contactById, holdAddressee, type Addressee } from "../../contacts/index.ts";
import { iso, mediumOf } from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { NamedVerdict, PolicyFacts, Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { endQueued } from "../attempts/settle.ts";
import { releaseJob } from "../job-orders.ts";
import type { MessageRow } from "../rows.ts";
import { defer, policyError } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { writeState, writeTimeline } from "../write-state.ts";

/**
 * Returns the recipient of a queued message: `erased` if the contact was erased, and `changed` if
 * it no longer has the number. The reads hold rows that an erasure, a merge and a change of the
 * number write. So if one of these commits first, the hand-over runs again.
 */
export async function recipientOf(
  tx: Tx,
  { contact_id, channel, to }: MessageRow,
): Promise<Addressee | "erased" | "changed"> {
  const addressee = await holdAddressee(tx, mediumOf(channel), to);
  if (addressee?.contact_id === contact_id) return addressee;
  const contact = await tx.get(contactById, [contact_id], { hold: true });
  if (contact === undefined) return "erased";
  // A merge moves the addresses first and the messages later.
  return addressee?.contact_id === contact.merged_into ? addressee : "changed";
}

/** Another person may have the number by now, and the text is not for that person. */
export const recipientChanged = {
  policy: "recipient",
  verdict: "deny",
  code: "recipient_changed",
  message: "The contact no longer has the number that the message goes to.",
} as const satisfies NamedVerdict;

/**
 * Checks the policies right before the hand-over. The rows that the verdicts depend on are held, so
 * that they cannot change before the commit.
 */
export function checkQueued(
  tx: Tx,
  context: PolicyContext,
  message: MessageRow,
  addressee: Addressee,
): Promise<readonly NamedVerdict[]> {
  return checkPolicies(tx, context, {
    message: factsOf(message),
    confirmsOptOut: message.keyword === "opt_out",
    consent: addressee,
    contact_id: addressee.contact_id,
    at: tx.now,
    hold: true,
  });
}

/** Ends a denied message. Schedules a deferred one, so that later messages do not wait for it. */
export async function denyOrDefer(
  tx: Tx,
  services: Services,
  message: Seen<MessageRow>,
  decision: Exclude<NamedVerdict, { verdict: "allow" }>,
): Promise<void> {
  const { policy } = decision;
  const entry = { type: "policy", at: iso(tx.now), policy } as const;
  if (decision.verdict === "deny") {
    const { verdict, code, message: reason } = decision;
    const error = policyError(code, reason);
    const ended = await endQueued(tx, services, message, { status: "failed", error });
    writeTimeline(tx, message, ended, { ...entry, verdict, reason, until: null, error });
    return;
  }
  const { verdict, reason } = decision;
  const planned_at = message.rescheduled_at ?? message.created_at;
  const state = defer(stateOf(message), decision.until, planned_at, tx.now);
  const waiting = await writeState(tx, message, state);
  await arm(tx, releaseJob(waiting, state.send_at));
  const until = iso(state.send_at);
  writeTimeline(tx, message, waiting, { ...entry, verdict, reason, until, error: null });
}

/** Returns a stored message in the form that policies receive. */
export function factsOf(row: MessageRow): PolicyFacts["message"] {
  const { id, channel, category, from, to, author_type, author_id, body, media, metadata } = row;
  return {
    id,
    channel,
    category,
    from,
    to,
    author: { type: author_type, id: author_id },
    body: body ?? "",
    media,
    metadata,
  };
}
