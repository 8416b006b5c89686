import {
  addressHash,
  type Consent,
  consentByAddress,
  consentEvidenceById,
  type ConsentEvidenceRow,
  type ConsentRow,
  type Consents,
  type ConsentState,
  contactToRead,
  identitiesOfContact,
  maxIdentities,
  noConsent,
} from "../contacts/index.ts";
import { type ById, byIdSchema, iso, type Medium } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";

/** The limit for one address. The newest evidence decides its consent. */
const maxEvidence = 50;

/**
 * Returns the consent of each address of a contact, with its evidence. For a merged contact,
 * returns the consents of the contact into which it was merged.
 */
export const getConsents: Query<ById, Consents> = {
  kind: "query",
  name: "contacts.consents",
  input: () => byIdSchema,
  async run(reads, { id }, { scope, services }) {
    const contact = await contactToRead(reads, id);
    const prefix = [contact.id];
    const identities = {
      index: identitiesOfContact,
      prefix,
      order: "ascending",
      limit: maxIdentities,
    } as const;
    const data = (await reads.range(identities)).map(async ({ medium, address }) => {
      const key = [medium, addressHash(services.secret, scope, medium, address)] as const;
      const newest = {
        index: consentEvidenceById,
        prefix: key,
        order: "descending",
        limit: maxEvidence,
      } as const;
      const [row, evidence] = await Promise.all([
        reads.get(consentByAddress, key),
        reads.range(newest),
      ]);
      return consentResource(medium, address, row, evidence);
    });
    return { data: await Promise.all(data) };
  },
};

/** The consent of an address. An address without a row has none. `evidence` is newest first. */
export function consentResource(
  medium: Medium,
  address: string,
  row: ConsentRow | undefined,
  evidence: readonly ConsentEvidenceRow[],
): Consent {
  const { status, opted_out_of, opted_in_to }: ConsentState = row ?? noConsent;
  return {
    medium,
    address,
    status,
    opted_out_of: [...opted_out_of],
    opted_in_to: [...opted_in_to],
    evidence: evidence.map(({ status: said, source, sender, message_id, detail, at }) => ({
      status: said,
      source,
      sender,
      message_id,
      detail,
      at: iso(at),
    })),
    // A contact's address has a row from the start.
    updated_at: row === undefined || evidence.length === 0 ? null : iso(row.updated_at),
  };
}
