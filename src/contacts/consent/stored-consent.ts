/** Reads and writes the consent of addresses: its rows, its evidence and its copy in identities. */
import type { KeyObject } from "node:crypto";
import { appendEvent } from "../../events/index.ts";
import type { Medium, MessageId } from "../../kernel/index.ts";
import type { Tx } from "../../store/index.ts";
import { contactOptedIn, contactOptedOut } from "../events.ts";
import { contactById, identities, identityByAddress, type IdentityRow } from "../rows.ts";
import { contactReference } from "../show.ts";
import {
  addressHash,
  consentAfter,
  isNewConsent,
  noConsent,
  type ConsentChange,
  type ConsentState,
} from "./consent-rules.ts";
import type { ConsentSource } from "./consent-types.ts";
import {
  consentByAddress,
  consentEvidence,
  consentEvidenceById,
  consents,
  type ConsentEvidenceRow,
  type ConsentRow,
} from "./rows.ts";

/**
 * Returns the consent of an address. No other transaction can change it until this one commits. An
 * unknown address has no row to lock, so this inserts one without consent. An opt-out that commits
 * meanwhile then conflicts with it, even if its contact has been erased since.
 */
export async function holdConsent(
  tx: Tx,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<ConsentState> {
  const address_hash = addressHash(secret, tx.scope, medium, address);
  const known = await tx.get(consentByAddress, [medium, address_hash], { hold: true });
  const none = { ...noConsent, medium, address_hash, updated_at: tx.now };
  return known ?? tx.insert(consents, none);
}

/** Removes the row of an address that nobody has given or withdrawn consent for. */
export async function removeNoConsent(tx: Tx, medium: Medium, address_hash: string): Promise<void> {
  const [row, evidence] = await Promise.all([
    tx.get(consentByAddress, [medium, address_hash]),
    tx.list(consentEvidenceById, [medium, address_hash], 1),
  ]);
  if (row !== undefined && evidence.length === 0) tx.remove(consents, row);
}

/** Returns the copy of the consent in the identity of an address. */
export function consentOf({
  consent: status,
  opted_out_of,
  opted_in_to,
}: IdentityRow): ConsentState {
  return { status, opted_out_of, opted_in_to };
}

/** `contact_id` is null when no contact has the address. */
export interface Addressee extends ConsentState {
  readonly contact_id: string | null;
}

/** Returns the consent of an address and the id of the contact that has it. */
export async function findAddressee(
  tx: Tx,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Addressee> {
  const identity = await tx.get(identityByAddress, [medium, address]);
  if (identity !== undefined) return { ...consentOf(identity), contact_id: identity.contact_id };
  // The consent of an earlier contact may remain.
  const key = [medium, addressHash(secret, tx.scope, medium, address)] as const;
  const left = await tx.get(consentByAddress, key, { hold: true });
  return { ...(left ?? noConsent), contact_id: null };
}

/**
 * Returns the consent of an address and the id of the contact that has it. Neither can change
 * before the transaction commits. Undefined if no contact has the address.
 */
export async function holdAddressee(
  tx: Tx,
  medium: Medium,
  address: string,
): Promise<Addressee | undefined> {
  const identity = await tx.get(identityByAddress, [medium, address], { hold: "recent" });
  return identity && { ...consentOf(identity), contact_id: identity.contact_id };
}

/** A change of an address's consent, with its source. */
interface ConsentUpdate extends ConsentChange {
  readonly medium: Medium;
  readonly address: string;
  readonly source: ConsentSource;
  /** The inbound message that changed the consent, or the outbound message that was refused. */
  readonly message_id: MessageId | null;
  readonly detail: string | null;
}

interface WrittenConsent {
  readonly consent: ConsentRow;
  readonly evidence: ConsentEvidenceRow;
  /** Whether the consent differed before. */
  readonly isChanged: boolean;
}

/**
 * Writes a consent, its evidence and the copy in the address's identity. No other function writes
 * them, so they agree. A send holds the identity, so no send commits after an opt-out. An event
 * reports a change.
 */
export async function setConsent(
  tx: Tx,
  secret: KeyObject,
  update: ConsentUpdate,
): Promise<WrittenConsent> {
  const { medium, address, source, status, sender, message_id, detail } = update;
  const address_hash = addressHash(secret, tx.scope, medium, address);
  const [known, identity] = await Promise.all([
    tx.get(consentByAddress, [medium, address_hash]),
    tx.get(identityByAddress, [medium, address]),
  ]);
  const before = known ?? noConsent;
  const after = { ...consentAfter(before, update), updated_at: tx.now };
  const about = { medium, address_hash };
  const consent =
    known === undefined
      ? tx.insert(consents, { ...about, ...after })
      : tx.update(consents, known, after);
  const evidence = tx.insert(consentEvidence, {
    ...about,
    id: tx.drawId("ent"),
    status,
    source,
    sender,
    message_id,
    detail,
    at: tx.now,
  });
  const isChanged = isNewConsent(before, update);
  // An address without a contact has no contact to report in an event.
  if (identity !== undefined) {
    const { opted_out_of, opted_in_to } = after;
    tx.update(identities, identity, { consent: after.status, opted_out_of, opted_in_to });
    if (isChanged) await publishConsent(tx, identity, update);
  }
  return { consent, evidence, isChanged };
}

async function publishConsent(
  tx: Tx,
  { contact_id }: IdentityRow,
  { medium, address, sender, source, message_id, status }: ConsentUpdate,
): Promise<void> {
  const contact = contactReference(contact_id, await tx.get(contactById, [contact_id]), address);
  const data = { contact, medium, address, sender, source, message_id };
  const event = status === "opted_out" ? contactOptedOut : contactOptedIn;
  appendEvent(tx, event, data, { contact_id });
}
