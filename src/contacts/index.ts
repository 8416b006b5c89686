export {
  consentByAddress,
  consentEvidence,
  consentEvidenceById,
  type ConsentEvidenceRow,
  type ConsentRow,
  consents,
} from "./consent-rows.ts";
export { addressHash, consentFor, type ConsentState, noConsent } from "./consent-rules.ts";
export {
  type Consent,
  type ConsentMedium,
  type Consents,
  consentsSchema,
  type Keyword,
  type SetConsent,
  setConsentSchema,
} from "./consent-types.ts";
export { createContact } from "./create.ts";
export { contactsModule } from "./descriptor.ts";
export { contactCreated, contactOptedIn, contactOptedOut, contactUpdated } from "./events.ts";
export { type Addressee, findAddressee, holdAddressee, stateOf } from "./find-consent.ts";
export { findRecipient, recipientMark } from "./find-recipient.ts";
export { findSurvivor } from "./find-survivor.ts";
export { contactToChange, contactToRead, mergedAway } from "./find-to-change.ts";
export { findContact, meetContact } from "./find.ts";
export { forgetAddress } from "./forget-address.ts";
export { getContact } from "./get.ts";
export { importContactRows } from "./import.ts";
export { listContacts } from "./list.ts";
export { contactReference, contactResource } from "./resource.ts";
export {
  contactById,
  contactLabels,
  type ContactRow,
  contacts,
  contactsMergedInto,
  identities,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
} from "./rows.ts";
export {
  isLanguage,
  mergedFacts,
  mostIdentities,
  mostMerged,
  nothingOfItsOwn,
  whichGoesOn,
} from "./rules.ts";
export { searchContacts } from "./search.ts";
export {
  feel,
  isVeryNegative,
  sentimentOf,
  soundScore,
  trendOf,
  unmoved,
} from "./sentiment-rules.ts";
export {
  type ContactSentiment,
  contactSentimentSchema,
  type Sentiment,
  type SentimentLabel,
  sentimentSchema,
} from "./sentiment-types.ts";
export { media, showContact } from "./show.ts";
export {
  type Contact,
  type ContactHistory,
  contactHistorySchema,
  type ContactReference,
  contactReferenceSchema,
  contactSchema,
  type CreateContact,
  type Identity,
  type ImportContact,
  type ImportCounts,
  type ImportReport,
  label,
  type ListContacts,
  type MergeContacts,
  mergeContactsSchema,
  type SearchContacts,
  type UpdateContact,
} from "./types.ts";
export { updateContact } from "./update.ts";
export { setConsent } from "./write-consent.ts";
export { insertIdentity } from "./write-identity.ts";
export { insertContact, removeContact, writeContact } from "./write.ts";
