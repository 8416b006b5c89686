import type { Opinion, PolicyFacts, Seen } from "../ports/index.ts";
import { type DrawId, iso } from "../kernel/index.ts";
import { type Addressee, contactById } from "../contacts/index.ts";
import { arm } from "../queue/index.ts";
import type { MessageRow } from "./rows.ts";
import { deferred, denial } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { Tx } from "../store/index.ts";
import { judgeMessage, type Judging } from "../consents/index.ts";
import { moveMessage } from "./move.ts";
import { releaseJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/**
 * Whether the message's contact has been erased: its address is nobody's then, or another contact's, and its own row is gone. What is held
 * of the two an erasure writes, so nothing is handed over that commits after it.
 */
export async function isErased(
  tx: Tx,
  { contact_id }: MessageRow,
  addressee: Addressee,
): Promise<boolean> {
  if (addressee.contact_id === contact_id) return false;
  return (await tx.get(contactById, [contact_id], { hold: true })) === undefined;
}

/** What the policies say of a message that is about to be handed over. What they judge by is held, so that nothing comes in between. */
export function judgeQueued(
  tx: Tx,
  judging: Judging,
  message: MessageRow,
  addressee: Addressee,
): Promise<readonly Opinion[]> {
  return judgeMessage(tx, judging, {
    message: factsOf(message),
    confirmsOptOut: message.keyword === "opt_out",
    consent: addressee,
    contact_id: addressee.contact_id ?? message.contact_id,
    at: tx.now,
    options: { hold: true },
  });
}

/** What is denied fails for good; what is put off is scheduled anew, and those behind it don't wait for it. */
export async function holdBack(
  tx: Tx,
  drawId: DrawId,
  message: Seen<MessageRow>,
  ruled: Exclude<Opinion, { verdict: "allow" }>,
): Promise<void> {
  const { policy, verdict } = ruled;
  const at = iso(tx.now);
  if (verdict === "deny") {
    const error = denial(ruled.code, ruled.message);
    const failed = await moveMessage(tx, drawId, message, { status: "failed", error });
    const entry = {
      type: "policy",
      at,
      policy,
      verdict,
      reason: ruled.message,
      until: null,
      error,
    } as const;
    writeTimeline(tx, drawId, message, failed, entry);
    return;
  }
  const state = deferred(stateOf(message), ruled.until, message.created_at, tx.now);
  const waiting = await moveMessage(tx, drawId, message, state);
  await arm(tx, releaseJob(waiting, state.send_at));
  const until = iso(state.send_at);
  const entry = {
    type: "policy",
    at,
    policy,
    verdict,
    reason: ruled.reason,
    until,
    error: null,
  } as const;
  writeTimeline(tx, drawId, message, waiting, entry);
}

/** A message that is there, as policies see it. */
export function factsOf(row: MessageRow): PolicyFacts["message"] {
  const { id, channel, category, from, to, author_type, author_id, body, media } = row;
  return {
    id,
    channel,
    category,
    from,
    to,
    author: { type: author_type, id: author_id },
    body: body ?? "",
    media,
  };
}
