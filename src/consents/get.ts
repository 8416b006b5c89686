import { consentResource } from "./resource.ts";
import {
  addressHash,
  consentByAddress,
  consentEvidenceById,
  type Consents,
  contactToRead,
  identitiesOfContact,
  mostIdentities,
} from "../contacts/index.ts";
import { type ById, byIdSchema } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";

/** Of one address: what came last is what counts. */
const mostEvidence = 50;

/** What each address of a contact allows, and how that is known. Of a merged contact, what those of its survivor do. */
export const getConsents: Query<ById, Consents> = {
  kind: "query",
  name: "contacts.consents",
  input: () => byIdSchema,
  async run(reads, { id }, { scope, services }) {
    const contact = await contactToRead(reads, id);
    const prefix = [contact.id];
    const owned = {
      index: identitiesOfContact,
      prefix,
      order: "ascending",
      limit: mostIdentities,
    } as const;
    const data = (await reads.range(owned)).map(async ({ medium, address }) => {
      const key = [medium, addressHash(services.secret, scope, medium, address)] as const;
      const newest = {
        index: consentEvidenceById,
        prefix: key,
        order: "descending",
        limit: mostEvidence,
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
