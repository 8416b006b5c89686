import { contactOptedIn, contactOptedOut } from "./events.ts";
import type { KeyObject } from "node:crypto";
import {
  consentByAddress,
  consentEvidence,
  type ConsentEvidenceRow,
  type ConsentRow,
  consents,
} from "./consent-rows.ts";
import {
  addressHash,
  consentAfter,
  type ConsentChange,
  isNewConsent,
  noConsent,
} from "./consent-rules.ts";
import type { ConsentSource } from "./consent-types.ts";
import { contactReference } from "./resource.ts";
import { contactById, identities, identityByAddress } from "./rows.ts";
import type { DrawId, Medium, MessageId } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";

/** What was said or done of an address, and by whom. */
export interface ConsentWord extends ConsentChange {
  readonly medium: Medium;
  readonly address: string;
  readonly source: ConsentSource;
  /** The message that said so, or that was refused. */
  readonly message_id: MessageId | null;
  readonly detail: string | null;
}

export interface WrittenConsent {
  readonly consent: ConsentRow;
  readonly evidence: ConsentEvidenceRow;
  /** It was otherwise before. */
  readonly isNews: boolean;
}

/**
 * Writes a consent, its evidence and its copy at the address's identity: here alone, so that they agree. Who hands over to the address
 * holds the identity, so nothing commits after an opt-out. What is news is told.
 */
export async function setConsent(
  tx: Tx,
  drawId: DrawId,
  secret: KeyObject,
  word: ConsentWord,
): Promise<WrittenConsent> {
  const { medium, address, source, status, sender, message_id, detail } = word;
  const address_hash = addressHash(secret, tx.scope, medium, address);
  const [known, identity] = await Promise.all([
    tx.get(consentByAddress, [medium, address_hash]),
    tx.get(identityByAddress, [medium, address]),
  ]);
  const before = known ?? noConsent;
  const after = { ...consentAfter(before, word), updated_at: tx.now };
  const about = { medium, address_hash };
  const consent =
    known === undefined
      ? tx.insert(consents, { ...about, ...after })
      : tx.update(consents, known, after);
  const said = { id: drawId("ent"), status, source, sender, message_id, detail, at: tx.now };
  const evidence = tx.insert(consentEvidence, { ...about, ...said });

  const written = { consent, evidence, isNews: isNewConsent(before, word) };
  // Of an address that is nobody's any more there is nobody to tell of.
  if (identity === undefined) return written;
  const { opted_out_of, opted_in_to } = after;
  tx.update(identities, identity, { consent: after.status, opted_out_of, opted_in_to });
  if (!written.isNews) return written;
  const { contact_id } = identity;
  const contact = await tx.get(contactById, [contact_id]);
  const data = {
    contact: contactReference(contact_id, contact, address),
    medium,
    address,
    sender,
    source,
    message_id,
  };
  appendEvent(tx, drawId, status === "opted_out" ? contactOptedOut : contactOptedIn, data, {
    contact_id,
  });
  return written;
}
