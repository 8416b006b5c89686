import { consentFor, identityByAddress, stateOf } from "../contacts/index.ts";
import type { MessageRow } from "../messages/index.ts";
import { mediumOf } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Whether who wrote a message wants none from the sender that it went to: nobody need think about an answer. */
export async function wantsNone(tx: Tx, { channel, from, to }: MessageRow): Promise<boolean> {
  const identity = await tx.get(identityByAddress, [mediumOf(channel), from], {
    hold: true,
  });
  return identity !== undefined && consentFor(stateOf(identity), to) === "opted_out";
}
