import type { MessageRow } from "./rows.ts";
import { mediumOf } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { setConsent } from "../contacts/index.ts";

/** A carrier that refuses a message for good because its recipient opted out heard of that before us: from now on it is known here. */
export async function heedRefusal(
  tx: Tx,
  { secret, drawId, consent }: Services,
  before: MessageRow,
  after: MessageRow,
): Promise<void> {
  const isRefused = ({ status, error }: MessageRow): boolean =>
    (status === "failed" || status === "undelivered") &&
    error?.code === "opted_out" &&
    error.permanent;
  if (!isRefused(after) || isRefused(before)) return;
  await setConsent(tx, drawId, secret, {
    medium: mediumOf(after.channel),
    address: after.to,
    status: "opted_out",
    sender: consent.scope === "sender" ? after.from : null,
    source: "carrier",
    message_id: after.id,
    detail: after.error?.provider_code ?? null,
  });
}
