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
export {
  type ConsentChangedData,
  contactCreated,
  type ContactCreatedData,
  contactErased,
  type ContactErasedData,
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
} from "./stored-consent.ts";
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
  removeContact,
  writeContact,
} from "./write-contact.ts";
export {
  releaseAddress,
  insertIdentity,
  refuseTooManyAddresses,
  setLastSender,
} from "./identities.ts";
export { findBestMatches } from "./search.ts";
export { contactQuery } from "./search-rules.ts";
export { contactReference, contactResource, media, showContact } from "./show.ts";
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
  type Sentiment,
  type SentimentLabel,
  sentimentSchema,
} from "./sentiment-types.ts";
export {
  addScore,
  isVeryNegative,
  sentimentOf,
  validScore,
  trendOf,
  neutralSentiment,
} from "./sentiment-rules.ts";
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
