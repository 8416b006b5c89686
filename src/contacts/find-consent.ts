import type { KeyObject } from "node:crypto";
import { consentByAddress, consents } from "./consent-rows.ts";
import { addressHash, type ConsentState, noConsent } from "./consent-rules.ts";
import { identityByAddress, type IdentityRow } from "./rows.ts";
import type { Medium } from "../kernel/index.ts";
import type { ReadOptions, Tx } from "../store/index.ts";

/** What an address that is nobody's allows: it may have been somebody's. */
export async function findConsent(
  tx: Tx,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<ConsentState> {
  const key = [medium, addressHash(secret, tx.scope, medium, address)] as const;
  return (await tx.get(consentByAddress, key, { hold: true })) ?? noConsent;
}

/** The copy that an address's identity has. */
export function stateOf({ consent: status, opted_out_of, opted_in_to }: IdentityRow): ConsentState {
  return { status, opted_out_of, opted_in_to };
}

/** `contact_id` is null where the address is nobody's. */
export interface Addressee extends ConsentState {
  readonly contact_id: string | null;
}

/** What an address allows, whoever has it, and that contact's id. */
export async function findAddressee(
  tx: Tx,
  secret: KeyObject,
  medium: Medium,
  address: string,
  options?: ReadOptions,
): Promise<Addressee> {
  const identity = await tx.get(identityByAddress, [medium, address], options);
  if (identity === undefined) {
    return { ...(await findConsent(tx, secret, medium, address)), contact_id: null };
  }
  return { ...stateOf(identity), contact_id: identity.contact_id };
}

/**
 * The same, and it stays so until this commits. What is nobody's and was never spoken of has no row to be held: it gets one that says
 * just that, over which an opt-out stumbles that comes meanwhile.
 */
export async function holdAddressee(
  tx: Tx,
  secret: KeyObject,
  medium: Medium,
  address: string,
): Promise<Addressee> {
  const addressee = await findAddressee(tx, secret, medium, address, { hold: true });
  if (addressee.contact_id !== null) return addressee;
  const address_hash = addressHash(secret, tx.scope, medium, address);
  const known = await tx.get(consentByAddress, [medium, address_hash]);
  if (known === undefined) {
    tx.insert(consents, { medium, address_hash, ...noConsent, updated_at: tx.now });
  }
  return addressee;
}
