import type { ContactId } from "../kernel/index.ts";
import type { Reads, Tx } from "../store/index.ts";

/** What a contact's current conversation knows. A message writes the conversation and not the contact. */
export interface Activity {
  readonly contact_id: ContactId;
  readonly message_count: number;
  /** In milliseconds since the epoch. */
  readonly last_activity_at: number;
}

/** Finds the activity in the current conversations of contacts. The conversations module provides it. */
export interface ContactActivity {
  /** As the transaction leaves it. */
  of(tx: Tx, contact: ContactId): Promise<readonly Activity[]>;
  /** Of a page of contacts, in one round trip. */
  ofAll(reads: Reads, contacts: readonly ContactId[]): Promise<readonly Activity[]>;
}
