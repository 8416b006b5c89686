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
  maxIdentities,
} from "./rows.ts";
export {
  consentByAddress,
  consentEvidence,
  consentEvidenceById,
  type ConsentEvidenceRow,
  type ConsentRow,
  consents,
} from "./consent/rows.ts";
export { addressHash, consentFor, type ConsentState, noConsent } from "./consent/consent-rules.ts";
export {
  type Consent,
  type ConsentEvidence,
  type ConsentMedium,
  consentMediumSchema,
  type Consents,
  type ConsentSource,
  type ConsentStatus,
  consentsSchema,
  type Keyword,
  type SetConsent,
  setConsentSchema,
} from "./consent/consent-types.ts";
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
  setConsent,
  consentOf,
} from "./consent/stored-consent.ts";
export {
  contactToChange,
  contactToRead,
  findSurvivor,
  mergedError,
  unknownContact,
} from "./find.ts";
export { findRecipient, preferredAddress, recipientMark } from "./recipients.ts";
export {
  type ContactFacts,
  createContactFor,
  createContactWith,
  removeContact,
  writeContact,
} from "./write-contact.ts";
export {
  releaseAddress,
  insertIdentity,
  refuseTooManyAddresses,
  type LastSender,
  lastSenderOf,
  setLastSender,
} from "./identities.ts";
export { findMatches } from "./search/search.ts";
export { contactQuery } from "./search/search-rules.ts";
export { contactReference, contactResource, showContact } from "./show.ts";
export {
  type ContactSentiment,
  contactSentimentSchema,
  type ScoredMessage,
  type Sentiment,
  type SentimentLabel,
  sentimentSchema,
} from "./sentiment/sentiment-types.ts";
export {
  addScore,
  isVeryNegative,
  sentimentOf,
  validScore,
  trendOf,
  neutralSentiment,
} from "./sentiment/sentiment-rules.ts";
export {
  type Contact,
  type ContactReference,
  contactReferenceSchema,
  contactSchema,
  type Identity,
} from "./types.ts";
export {
  contactHistorySchema,
  type CreateContact,
  labelList,
  type ListContacts,
  maxLabels,
  type SearchContacts,
  type UpdateContact,
} from "./input-types.ts";
export type {
  ImportConsent,
  ImportContact,
  ImportCounts,
  ImportFailure,
  ImportReport,
  ImportSuccess,
} from "./import/import-types.ts";
