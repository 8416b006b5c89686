import type { KeyObject } from "node:crypto";
import { consentByAddress } from "../../domain/consents/rows.ts";
import { addressHash, type ConsentState, noConsent } from "../../domain/consents/rules.ts";
import { identityByAddress } from "../../domain/contacts/rows.ts";
import type { Medium } from "../../fields.ts";
import type { Scope } from "../../scope.ts";
import type { ReadOptions, Tx } from "../../transactions/transaction.ts";

/** What an address that is nobody's allows: it may have been somebody's. */
export async function findConsent(
  tx: Tx,
  secret: KeyObject,
  scope: Scope,
  medium: Medium,
  address: string,
): Promise<ConsentState> {
  const key = [scope.account_id, scope.mode, medium, addressHash(secret, scope, medium, address)] as const;
  return (await tx.get(consentByAddress, key, { hold: true })) ?? noConsent;
}

/** `contact_id` is null where the address is nobody's. */
export interface Addressee extends ConsentState {
  readonly contact_id: string | null;
}

/** What an address allows, whoever has it, and that contact's id. With `hold` it stays so until this commits. */
export async function findAddressee(
  tx: Tx,
  secret: KeyObject,
  scope: Scope,
  medium: Medium,
  address: string,
  options?: ReadOptions,
): Promise<Addressee> {
  const identity = await tx.get(identityByAddress, [scope.account_id, scope.mode, medium, address], options);
  if (identity !== undefined) {
    const { consent: status, opted_out_of, contact_id } = identity;
    return { status, opted_out_of, contact_id };
  }
  const { status, opted_out_of } = await findConsent(tx, secret, scope, medium, address);
  return { status, opted_out_of, contact_id: null };
}
