export {
  consentByAddress,
  consentEvidence,
  consentEvidenceById,
  type ConsentEvidenceRow,
  type ConsentRow,
  consents,
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
  addressHash,
  type Consent,
  consentFor,
  type ConsentMedium,
  type Consents,
  consentsSchema,
  type ConsentState,
  type Keyword,
  noConsent,
  type SetConsent,
  setConsentSchema,
} from "./consent.ts";
export {
  type ConsentChangedData,
  contactCreated,
  type ContactCreatedData,
  contactOptedIn,
  contactOptedOut,
  contactUpdated,
  type ContactUpdatedData,
} from "./events.ts";
export {
  type Addressee,
  findAddressee,
  holdAddressee,
  prefetchConsent,
  setConsent,
  consentOf,
} from "./consent-access.ts";
export {
  contactToChange,
  contactToRead,
  findRecipient,
  prefetchRecipient,
  recipientSubject,
  findSurvivor,
  mergedError,
  recipientMark,
} from "./find.ts";
export {
  createContactFor,
  createContactWith,
  releaseAddress,
  insertIdentity,
  refuseTooManyAddresses,
  removeContact,
  writeContact,
} from "./identities.ts";
export { findBestMatches } from "./search.ts";
export { contactQuery } from "./search-words.ts";
export { contactReference, contactResource, media, showContact } from "./reads.ts";
export {
  isLanguage,
  mergedFacts,
  maxIdentities,
  maxMerged,
  clearedFields,
  conversationToKeep,
} from "./rules.ts";
export {
  type ContactSentiment,
  contactSentimentSchema,
  addScore,
  isVeryNegative,
  type Sentiment,
  type SentimentLabel,
  sentimentOf,
  sentimentSchema,
  validScore,
  trendOf,
  neutralSentiment,
} from "./sentiment.ts";
export {
  type Contact,
  type ContactReference,
  contactReferenceSchema,
  contactSchema,
  type Identity,
} from "./types.ts";
export {
  type ContactHistory,
  contactHistorySchema,
  type CreateContact,
  type ImportContact,
  label,
  type ListContacts,
  type MergeContacts,
  mergeContactsSchema,
  type SearchContacts,
  type UpdateContact,
} from "./input-types.ts";
export type { ImportCounts, ImportReport } from "./import-types.ts";
