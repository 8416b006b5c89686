import { identityByAddress, setLastSender } from "../../contacts/index.ts";
import { mediumOf } from "../../kernel/index.ts";
import { senderByAddress } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import type { MessageRow } from "../rows.ts";

/**
 * Stores the sender of a scheduled or deferred message as the one that the contact saw last. For
 * other messages, this is done when they are created. Only the first attempt does it, because the
 * contact may have written to another sender since.
 */
export async function showSender(
  tx: Tx,
  { channel, from, to, attempts, send_at, deferred, keyword }: MessageRow,
): Promise<void> {
  const isForLater = send_at !== null || deferred === true;
  if (!isForLater || attempts > 1) return;
  const [identity, sender] = await Promise.all([
    tx.get(identityByAddress, [mediumOf(channel), to]),
    tx.get(senderByAddress, [from]),
  ]);
  if (identity === undefined || sender === undefined) return;
  setLastSender(tx, identity, sender, { onlyIfNone: keyword === "opt_out" });
}
