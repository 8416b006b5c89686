import { consentFor } from "../contacts/consent-rules.ts";
import { identityByAddress } from "../contacts/rows.ts";
import type { MessageRow } from "../messages/rows.ts";
import { mediumOf } from "../kernel/fields.ts";
import type { Tx } from "../store/transaction.ts";
import { stateOf } from "../contacts/find-consent.ts";

/** Whether who wrote a message wants none from the sender that it went to: nobody need think about an answer. */
export async function wantsNone(tx: Tx, { channel, from, to }: MessageRow): Promise<boolean> {
  const identity = await tx.get(identityByAddress, [mediumOf(channel), from], {
    hold: true,
  });
  return identity !== undefined && consentFor(stateOf(identity), to) === "opted_out";
}
