import type {
  ConsentMedium,
  Consents,
  Contact,
  ContactSentiment,
  CreateContact,
  ImportContact,
  ImportCounts,
  ImportReport,
  ListContacts,
  SearchContacts,
  SetConsent,
  UpdateContact,
} from "../../contacts/index.ts";
import type { Conversation } from "../../conversations/index.ts";
import type { PageQuery } from "../../kernel/index.ts";
import type { Message } from "../../messages/index.ts";
import type { AddObservation, Observation } from "../../observations/index.ts";
import type { CommandOptions, KeyOptions, PagePromise } from "../../operations/index.ts";
import type { MergePreview } from "../../privacy/index.ts";

/** Contacts, with their addresses, consents, observations and sentiment. */
export interface Contacts {
  /**
   * Creates a contact. It needs a phone number, an email address or a name.
   * @throws TidingsError `conflict` when another contact has the phone number. `conflictingId` is
   *   the id of that contact.
   */
  create(input: CreateContact, options?: CommandOptions): Promise<Contact>;
  /**
   * Returns a contact. A merged contact has no data except `merged_into`.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Contact>;
  /**
   * Searches by words, word prefixes or the start of a phone number, in all contacts or in those
   * that pass the filters. Best matches come first. Returns one page: `next_cursor` is null.
   */
  search(query: SearchContacts): PagePromise<Contact>;
  /**
   * Creates or updates contacts by phone number and yields a report for each row. Nothing happens
   * before you read the reports. Only a few rows are in memory at a time, so `rows` may be of any
   * length. Errors of the storage or of `rows` are thrown. A repeated import changes nothing twice.
   *
   * ```ts
   * for await (const { index, status, errors } of engine.contacts.import(rows)) {
   *   if (status === "failed") console.warn(index, errors);
   * }
   * ```
   */
  import(
    rows: Iterable<ImportContact> | AsyncIterable<ImportContact>,
  ): AsyncGenerator<ImportReport, ImportCounts>;
  /**
   * Lists contacts, newest first, without merged contacts. A filtered page can be empty although
   * more pages follow.
   */
  list(filters?: ListContacts): PagePromise<Contact>;
  /**
   * Changes a contact. Absent fields keep their value, and null clears them. A phone number that is
   * cleared belongs to no contact.
   * @throws TidingsError `conflict` when another contact has the phone number, or when the contact
   *   was merged. `conflictingId` is the id of the other contact.
   */
  update(id: string, changes: UpdateContact, options?: CommandOptions): Promise<Contact>;
  /**
   * Moves everything from the other contact to this one. Resolves when the merge is complete. A
   * merge cannot be undone.
   * @throws TidingsError `conflict` when the contact would have more than 100 addresses or 1,000
   *   merged contacts
   */
  merge(id: string, otherId: string, options?: KeyOptions): Promise<Contact>;
  /**
   * Returns what `merge` would do: the contact that it would result in, and the conversations that
   * it would close.
   * @throws TidingsError as `merge` does
   */
  previewMerge(id: string, otherId: string): Promise<MergePreview>;
  /**
   * Erases the contact and the contacts that were merged into it. Queued and scheduled messages to
   * it are not sent. Resolves when the erasure is complete. What stays identifies nobody by itself:
   * counts, events without names, addresses and texts, the consents of its addresses under keyed
   * hashes, and idempotency keys until they expire.
   */
  erase(id: string, options?: KeyOptions): Promise<void>;
  /** Lists the contact's conversations, newest first. */
  conversations(id: string, page?: PageQuery): PagePromise<Conversation>;
  /** Lists the contact's messages on all channels, newest first. */
  messages(id: string, page?: PageQuery): PagePromise<Message>;
  /** Lists the contact's observations, newest first. Expired observations are left out. */
  observations(id: string, page?: PageQuery): PagePromise<Observation>;
  /** Records a fact about the contact, such as "prefers mornings". */
  addObservation(id: string, input: AddObservation, options?: CommandOptions): Promise<Observation>;
  /**
   * Removes an observation of the contact.
   * @throws TidingsError `not_found`
   */
  removeObservation(id: string, observationId: string, options?: CommandOptions): Promise<void>;
  /**
   * Returns the consent of each of the contact's addresses, with the 50 newest pieces of evidence.
   */
  consents(id: string): Promise<Consents>;
  /**
   * Opts all addresses of the contact on a medium in or out. Returns the new consents, with only
   * the evidence that this call added.
   * @throws TidingsError `validation_failed` when the contact has no address on the medium
   */
  setConsent(
    id: string,
    medium: ConsentMedium,
    change: SetConsent,
    options?: CommandOptions,
  ): Promise<Consents>;
  /** The contact's sentiment and trend, with up to 20 messages that changed it, newest first. */
  sentiment(id: string): Promise<ContactSentiment>;
}
