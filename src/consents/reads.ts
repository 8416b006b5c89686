import {
  addressHash,
  consentByAddress,
  consentEvidenceById,
  contactToRead,
  identitiesOfContact,
  maxIdentities,
  type Consents,
} from "../contacts/index.ts";
import { byIdSchema, type ById } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { consentResource } from "./show.ts";

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
