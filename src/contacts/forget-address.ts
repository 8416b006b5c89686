import type { KeyObject } from "node:crypto";
import { consentEvidence, consentEvidenceInWords } from "./consent-rows.ts";
import { addressHash } from "./consent-rules.ts";
import { identities, type IdentityRow } from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { eraseAnswers } from "../operations/index.ts";

/**
 * Takes an address from its contact; from then on it is nobody's. That and when it opted out or in stays known, under a keyed hash of it,
 * and so does how; not in whose words, which whoever has the address next must not be shown. Of answers about it nothing does.
 */
export async function forgetAddress(
  tx: Tx,
  secret: KeyObject,
  identity: Seen<IdentityRow>,
): Promise<void> {
  const { medium, address } = identity;
  const hash = addressHash(secret, identity, medium, address);
  while (!(await eraseAnswers(tx, hash)));
  // What is written already is read over each time: chunks that grow keep that from growing with the square.
  for (let chunk = 200; ; chunk *= 4) {
    const worded = await tx.list(consentEvidenceInWords, [medium, hash], chunk);
    for (const row of worded) tx.update(consentEvidence, row, { detail: null });
    if (worded.length < chunk) break;
  }
  tx.remove(identities, identity);
}
